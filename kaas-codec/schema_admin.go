package codec

// Requests about the connection, and those of administrators: authentication,
// access control, quotas, configuration and the cluster itself.

var apiVersionsSchema = []field{
	{name: "ClientSoftwareName", kind: text, since: 3},
	{name: "ClientSoftwareVersion", kind: text, since: 3},
}

var saslHandshakeSchema = []field{
	{name: "Mechanism", kind: text},
}

// aclFilter chooses access control entries, to be shown or deleted.
var aclFilter = []field{
	{name: "ResourceTypeFilter", kind: int8Field},
	{name: "ResourceNameFilter", kind: text, null: true},
	{name: "PatternTypeFilter", kind: int8Field, since: 1},
	{name: "PrincipalFilter", kind: text, null: true},
	{name: "HostFilter", kind: text, null: true},
	{name: "Operation", kind: int8Field},
	{name: "PermissionType", kind: int8Field},
}

var describeAclsSchema = aclFilter

var createAclsSchema = []field{
	{name: "Creations", kind: list, of: []field{
		{name: "ResourceType", kind: int8Field},
		{name: "ResourceName", kind: text},
		{name: "ResourcePatternType", kind: int8Field, since: 1},
		{name: "Principal", kind: text},
		{name: "Host", kind: text},
		{name: "Operation", kind: int8Field},
		{name: "PermissionType", kind: int8Field},
	}},
}

var deleteAclsSchema = []field{
	{name: "Filters", kind: list, of: aclFilter},
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

var alterConfigsSchema = []field{
	{name: "Resources", kind: list, of: []field{
		{name: "ResourceType", kind: int8Field},
		{name: "ResourceName", kind: text},
		{name: "Configs", kind: list, of: []field{
			{name: "Name", kind: text},
			{name: "Value", kind: text, null: true},
		}},
	}},
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

var saslAuthenticateSchema = []field{
	{name: "AuthBytes", kind: data},
}

var electLeadersSchema = []field{
	{name: "ElectionType", kind: int8Field, since: 1},
	{name: "TopicPartitions", kind: list, null: true, of: []field{
		{name: "Topic", kind: text},
		{name: "Partitions", kind: values, of: []field{{kind: int32Field}}},
	}},
	{name: "TimeoutMs", kind: int32Field},
}

var alterPartitionReassignmentsSchema = []field{
	{name: "TimeoutMs", kind: int32Field},
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "Replicas", kind: values, null: true, of: []field{{kind: int32Field}}},
		}},
	}},
}

var listPartitionReassignmentsSchema = []field{
	{name: "TimeoutMs", kind: int32Field},
	{name: "Topics", kind: list, null: true, of: []field{
		{name: "Name", kind: text},
		{name: "PartitionIndexes", kind: values, of: []field{{kind: int32Field}}},
	}},
}

var describeClientQuotasSchema = []field{
	{name: "Components", kind: list, of: []field{
		{name: "EntityType", kind: text},
		{name: "MatchType", kind: int8Field},
		{name: "Match", kind: text, null: true},
	}},
	{name: "Strict", kind: int8Field},
}

var alterClientQuotasSchema = []field{
	{name: "Entries", kind: list, of: []field{
		{name: "Entity", kind: list, of: []field{
			{name: "EntityType", kind: text},
			{name: "EntityName", kind: text, null: true},
		}},
		{name: "Ops", kind: list, of: []field{
			{name: "Key", kind: text},
			{name: "Value", kind: int64Field},
			{name: "Remove", kind: int8Field},
		}},
	}},
	{name: "ValidateOnly", kind: int8Field},
}

var describeUserScramCredentialsSchema = []field{
	{name: "Users", kind: list, null: true, of: []field{
		{name: "Name", kind: text},
	}},
}

var alterUserScramCredentialsSchema = []field{
	{name: "Deletions", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Mechanism", kind: int8Field},
	}},
	{name: "Upsertions", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Mechanism", kind: int8Field},
		{name: "Iterations", kind: int32Field},
		{name: "Salt", kind: data},
		{name: "SaltedPassword", kind: data},
	}},
}

var describeClusterSchema = []field{
	{name: "IncludeClusterAuthorizedOperations", kind: int8Field},
	{name: "EndpointType", kind: int8Field, since: 1},
	{name: "IncludeFencedBrokers", kind: int8Field, since: 2},
}

var describeQuorumSchema = []field{
	{name: "Topics", kind: list, of: []field{
		{name: "TopicName", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
		}},
	}},
}

var updateFeaturesSchema = []field{
	{name: "timeoutMs", kind: int32Field},
	{name: "FeatureUpdates", kind: list, of: []field{
		{name: "Feature", kind: text},
		{name: "MaxVersionLevel", kind: int16Field},
		{name: "AllowDowngrade", kind: int8Field, before: 1},
		{name: "UpgradeType", kind: int8Field, since: 1},
	}},
	{name: "ValidateOnly", kind: int8Field, since: 1},
}

var unregisterBrokerSchema = []field{
	{name: "BrokerId", kind: int32Field},
}

var listClientMetricsResourcesSchema = []field{}
