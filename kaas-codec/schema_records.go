package codec

// Requests about records and their offsets in a log.

var produceSchema = []field{
	{name: "TransactionalId", kind: text, null: true, since: 3},
	{name: "Acks", kind: int16Field},
	{name: "TimeoutMs", kind: int32Field},
	{name: "TopicData", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "PartitionData", kind: list, of: []field{
			{name: "Index", kind: int32Field},
			{name: "Records", kind: data, null: true},
		}},
	}},
}

var fetchSchema = []field{
	{name: "ReplicaId", kind: int32Field, before: 15},
	{name: "MaxWaitMs", kind: int32Field},
	{name: "MinBytes", kind: int32Field},
	{name: "MaxBytes", kind: int32Field, since: 3},
	{name: "IsolationLevel", kind: int8Field, since: 4},
	{name: "SessionId", kind: int32Field, since: 7},
	{name: "SessionEpoch", kind: int32Field, since: 7},
	{name: "Topics", kind: list, of: []field{
		{name: "Topic", kind: text, before: 13},
		{name: "TopicId", kind: uuidField, since: 13},
		{name: "Partitions", kind: list, of: []field{
			{name: "Partition", kind: int32Field},
			{name: "CurrentLeaderEpoch", kind: int32Field, since: 9},
			{name: "FetchOffset", kind: int64Field},
			{name: "LastFetchedEpoch", kind: int32Field, since: 12},
			{name: "LogStartOffset", kind: int64Field, since: 5},
			{name: "PartitionMaxBytes", kind: int32Field},
			{name: "ReplicaDirectoryId", kind: uuidField, since: 17, tagged: true, tag: 0},
			{name: "HighWatermark", kind: int64Field, since: 18, tagged: true, tag: 1},
		}},
	}},
	{name: "ForgottenTopicsData", kind: list, since: 7, of: []field{
		{name: "Topic", kind: text, before: 13},
		{name: "TopicId", kind: uuidField, since: 13},
		{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
	}},
	{name: "RackId", kind: text, since: 11},
	{name: "ClusterId", kind: text, null: true, since: 12, tagged: true, tag: 0},
	{name: "ReplicaState", kind: object, since: 15, tagged: true, tag: 1, of: []field{
		{name: "ReplicaId", kind: int32Field},
		{name: "ReplicaEpoch", kind: int64Field},
	}},
}

var listOffsetsSchema = []field{
	{name: "ReplicaId", kind: int32Field},
	{name: "IsolationLevel", kind: int8Field, since: 2},
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "CurrentLeaderEpoch", kind: int32Field, since: 4},
			{name: "Timestamp", kind: int64Field},
			{name: "MaxNumOffsets", kind: int32Field, before: 1},
		}},
	}},
}

var deleteRecordsSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "Offset", kind: int64Field},
		}},
	}},
	{name: "TimeoutMs", kind: int32Field},
}

var offsetForLeaderEpochSchema = []field{
	{name: "ReplicaId", kind: int32Field, since: 3},
	{name: "Topics", kind: list, of: []field{
		{name: "Topic", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "Partition", kind: int32Field},
			{name: "CurrentLeaderEpoch", kind: int32Field, since: 2},
			{name: "LeaderEpoch", kind: int32Field},
		}},
	}},
}
