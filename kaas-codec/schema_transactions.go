package codec

// Requests about transactions and the producers that make them.

var initProducerIDSchema = []field{
	{name: "TransactionalId", kind: text, null: true},
	{name: "TransactionTimeoutMs", kind: int32Field},
	{name: "ProducerId", kind: int64Field, since: 3},
	{name: "ProducerEpoch", kind: int16Field, since: 3},
}

var addPartitionsToTxnSchema = []field{
	{name: "Transactions", kind: list, since: 4, of: []field{
		{name: "TransactionalId", kind: text},
		{name: "ProducerId", kind: int64Field},
		{name: "ProducerEpoch", kind: int16Field},
		{name: "VerifyOnly", kind: int8Field},
		{name: "Topics", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
		}},
	}},
	{name: "V3AndBelowTransactionalId", kind: text, before: 4},
	{name: "V3AndBelowProducerId", kind: int64Field, before: 4},
	{name: "V3AndBelowProducerEpoch", kind: int16Field, before: 4},
	{name: "V3AndBelowTopics", kind: list, before: 4, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
	}},
}

var addOffsetsToTxnSchema = []field{
	{name: "TransactionalId", kind: text},
	{name: "ProducerId", kind: int64Field},
	{name: "ProducerEpoch", kind: int16Field},
	{name: "GroupId", kind: text},
}

var endTxnSchema = []field{
	{name: "TransactionalId", kind: text},
	{name: "ProducerId", kind: int64Field},
	{name: "ProducerEpoch", kind: int16Field},
	{name: "Committed", kind: int8Field},
}

var writeTxnMarkersSchema = []field{
	{name: "Markers", kind: list, of: []field{
		{name: "ProducerId", kind: int64Field},
		{name: "ProducerEpoch", kind: int16Field},
		{name: "TransactionResult", kind: int8Field},
		{name: "Topics", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "PartitionIndexes", kind: values, of: []field{{kind: int32Field}}},
		}},
		{name: "CoordinatorEpoch", kind: int32Field},
	}},
}

var txnOffsetCommitSchema = []field{
	{name: "TransactionalId", kind: text},
	{name: "GroupId", kind: text},
	{name: "ProducerId", kind: int64Field},
	{name: "ProducerEpoch", kind: int16Field},
	{name: "GenerationId", kind: int32Field, since: 3},
	{name: "MemberId", kind: text, since: 3},
	{name: "GroupInstanceId", kind: text, null: true, since: 3},
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "CommittedOffset", kind: int64Field},
			{name: "CommittedLeaderEpoch", kind: int32Field, since: 2},
			{name: "CommittedMetadata", kind: text, null: true},
		}},
	}},
}

var describeProducersSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "PartitionIndexes", kind: values, of: []field{{kind: int32Field}}},
	}},
}

var describeTransactionsSchema = []field{
	{name: "TransactionalIds", kind: values, of: []field{{kind: text}}},
}

var listTransactionsSchema = []field{
	{name: "StateFilters", kind: values, of: []field{{kind: text}}},
	{name: "ProducerIdFilters", kind: values, of: []field{{kind: int64Field}}},
}
