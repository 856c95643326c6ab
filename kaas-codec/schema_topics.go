package codec

// Requests about topics and their partitions.

var metadataSchema = []field{
	{name: "Topics", kind: list, null: true, nullSince: 1, of: []field{
		{name: "TopicId", kind: uuidField, since: 10},
		{name: "Name", kind: text, null: true, nullSince: 10},
	}},
	{name: "AllowAutoTopicCreation", kind: int8Field, since: 4},
	{name: "IncludeClusterAuthorizedOperations", kind: int8Field, since: 8, before: 11},
	{name: "IncludeTopicAuthorizedOperations", kind: int8Field, since: 8},
}

var createTopicsSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "NumPartitions", kind: int32Field},
		{name: "ReplicationFactor", kind: int16Field},
		{name: "Assignments", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "BrokerIds", kind: values, of: []field{{kind: int32Field}}},
		}},
		{name: "Configs", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "Value", kind: text, null: true},
		}},
	}},
	{name: "timeoutMs", kind: int32Field},
	{name: "validateOnly", kind: int8Field, since: 1},
}

var deleteTopicsSchema = []field{
	{name: "Topics", kind: list, since: 6, of: []field{
		{name: "Name", kind: text, null: true},
		{name: "TopicId", kind: uuidField},
	}},
	{name: "TopicNames", kind: values, before: 6, of: []field{{kind: text}}},
	{name: "TimeoutMs", kind: int32Field},
}

var createPartitionsSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Count", kind: int32Field},
		{name: "Assignments", kind: list, null: true, of: []field{
			{name: "BrokerIds", kind: values, of: []field{{kind: int32Field}}},
		}},
	}},
	{name: "TimeoutMs", kind: int32Field},
	{name: "ValidateOnly", kind: int8Field},
}

var describeTopicPartitionsSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
	}},
	{name: "ResponsePartitionLimit", kind: int32Field},
	{name: "Cursor", kind: object, null: true, of: []field{
		{name: "TopicName", kind: text},
		{name: "PartitionIndex", kind: int32Field},
	}},
}
