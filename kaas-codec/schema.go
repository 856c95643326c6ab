package codec

// schemas describes the request bodies that can be decoded, by key: all keys of
// the registry. Field names and version bounds are those of Kafka's message
// definitions. Versions above the registry's are not described.
var schemas = map[int16][]field{
	0:  produceSchema,
	1:  fetchSchema,
	2:  listOffsetsSchema,
	3:  metadataSchema,
	8:  offsetCommitSchema,
	9:  offsetFetchSchema,
	10: findCoordinatorSchema,
	11: joinGroupSchema,
	12: heartbeatSchema,
	13: leaveGroupSchema,
	14: syncGroupSchema,
	15: describeGroupsSchema,
	16: listGroupsSchema,
	17: saslHandshakeSchema,
	18: apiVersionsSchema,
	19: createTopicsSchema,
	20: deleteTopicsSchema,
	21: deleteRecordsSchema,
	22: initProducerIDSchema,
	23: offsetForLeaderEpochSchema,
	24: addPartitionsToTxnSchema,
	25: addOffsetsToTxnSchema,
	26: endTxnSchema,
	27: writeTxnMarkersSchema,
	28: txnOffsetCommitSchema,
	29: describeAclsSchema,
	30: createAclsSchema,
	31: deleteAclsSchema,
	32: describeConfigsSchema,
	33: alterConfigsSchema,
	34: alterReplicaLogDirsSchema,
	35: describeLogDirsSchema,
	36: saslAuthenticateSchema,
	37: createPartitionsSchema,
	42: deleteGroupsSchema,
	43: electLeadersSchema,
	44: incrementalAlterConfigsSchema,
	45: alterPartitionReassignmentsSchema,
	46: listPartitionReassignmentsSchema,
	47: offsetDeleteSchema,
	48: describeClientQuotasSchema,
	49: alterClientQuotasSchema,
	50: describeUserScramCredentialsSchema,
	51: alterUserScramCredentialsSchema,
	55: describeQuorumSchema,
	57: updateFeaturesSchema,
	60: describeClusterSchema,
	61: describeProducersSchema,
	64: unregisterBrokerSchema,
	65: describeTransactionsSchema,
	66: listTransactionsSchema,
	74: listClientMetricsResourcesSchema,
	75: describeTopicPartitionsSchema,
}

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

var metadataSchema = []field{
	{name: "Topics", kind: list, null: true, nullSince: 1, of: []field{
		{name: "TopicId", kind: uuidField, since: 10},
		{name: "Name", kind: text, null: true, nullSince: 10},
	}},
	{name: "AllowAutoTopicCreation", kind: int8Field, since: 4},
	{name: "IncludeClusterAuthorizedOperations", kind: int8Field, since: 8, before: 11},
	{name: "IncludeTopicAuthorizedOperations", kind: int8Field, since: 8},
}

var apiVersionsSchema = []field{
	{name: "ClientSoftwareName", kind: text, since: 3},
	{name: "ClientSoftwareVersion", kind: text, since: 3},
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

var initProducerIDSchema = []field{
	{name: "TransactionalId", kind: text, null: true},
	{name: "TransactionTimeoutMs", kind: int32Field},
	{name: "ProducerId", kind: int64Field, since: 3},
	{name: "ProducerEpoch", kind: int16Field, since: 3},
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

var describeConfigsSchema = []field{
	{name: "Resources", kind: list, of: []field{
		{name: "ResourceType", kind: int8Field},
		{name: "ResourceName", kind: text},
		{name: "ConfigurationKeys", kind: values, null: true, of: []field{{kind: text}}},
	}},
	{name: "IncludeSynonyms", kind: int8Field, since: 1},
	{name: "IncludeDocumentation", kind: int8Field, since: 3},
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

var incrementalAlterConfigsSchema = []field{
	{name: "Resources", kind: list, of: []field{
		{name: "ResourceType", kind: int8Field},
		{name: "ResourceName", kind: text},
		{name: "Configs", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "ConfigOperation", kind: int8Field},
			{name: "Value", kind: text, null: true},
		}},
	}},
	{name: "ValidateOnly", kind: int8Field},
}

var describeClusterSchema = []field{
	{name: "IncludeClusterAuthorizedOperations", kind: int8Field},
	{name: "EndpointType", kind: int8Field, since: 1},
	{name: "IncludeFencedBrokers", kind: int8Field, since: 2},
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
