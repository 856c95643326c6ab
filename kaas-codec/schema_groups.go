package codec

// Requests about consumer groups and their offsets.

var offsetCommitSchema = []field{
	{name: "GroupId", kind: text},
	{name: "GenerationIdOrMemberEpoch", kind: int32Field, since: 1},
	{name: "MemberId", kind: text, since: 1},
	{name: "GroupInstanceId", kind: text, null: true, since: 7},
	{name: "RetentionTimeMs", kind: int64Field, since: 2, before: 5},
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
			{name: "CommittedOffset", kind: int64Field},
			{name: "CommittedLeaderEpoch", kind: int32Field, since: 6},
			{name: "CommitTimestamp", kind: int64Field, since: 1, before: 2},
			{name: "CommittedMetadata", kind: text, null: true},
		}},
	}},
}

var offsetFetchSchema = []field{
	{name: "GroupId", kind: text, before: 8},
	{name: "Topics", kind: list, null: true, nullSince: 2, before: 8, of: []field{
		{name: "Name", kind: text},
		{name: "PartitionIndexes", kind: values, of: []field{{kind: int32Field}}},
	}},
	{name: "Groups", kind: list, since: 8, of: []field{
		{name: "GroupId", kind: text},
		{name: "MemberId", kind: text, null: true, since: 9},
		{name: "MemberEpoch", kind: int32Field, since: 9},
		{name: "Topics", kind: list, null: true, of: []field{
			{name: "Name", kind: text},
			{name: "PartitionIndexes", kind: values, of: []field{{kind: int32Field}}},
		}},
	}},
	{name: "RequireStable", kind: int8Field, since: 7},
}

var findCoordinatorSchema = []field{
	{name: "Key", kind: text, before: 4},
	{name: "KeyType", kind: int8Field, since: 1},
	{name: "CoordinatorKeys", kind: values, since: 4, of: []field{{kind: text}}},
}

var joinGroupSchema = []field{
	{name: "GroupId", kind: text},
	{name: "SessionTimeoutMs", kind: int32Field},
	{name: "RebalanceTimeoutMs", kind: int32Field, since: 1},
	{name: "MemberId", kind: text},
	{name: "GroupInstanceId", kind: text, null: true, since: 5},
	{name: "ProtocolType", kind: text},
	{name: "Protocols", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Metadata", kind: data},
	}},
	{name: "Reason", kind: text, null: true, since: 8},
}

var heartbeatSchema = []field{
	{name: "GroupId", kind: text},
	{name: "GenerationId", kind: int32Field},
	{name: "MemberId", kind: text},
	{name: "GroupInstanceId", kind: text, null: true, since: 3},
}

var leaveGroupSchema = []field{
	{name: "GroupId", kind: text},
	{name: "MemberId", kind: text, before: 3},
	{name: "Members", kind: list, since: 3, of: []field{
		{name: "MemberId", kind: text},
		{name: "GroupInstanceId", kind: text, null: true},
		{name: "Reason", kind: text, null: true, since: 5},
	}},
}

var syncGroupSchema = []field{
	{name: "GroupId", kind: text},
	{name: "GenerationId", kind: int32Field},
	{name: "MemberId", kind: text},
	{name: "GroupInstanceId", kind: text, null: true, since: 3},
	{name: "ProtocolType", kind: text, null: true, since: 5},
	{name: "ProtocolName", kind: text, null: true, since: 5},
	{name: "Assignments", kind: list, of: []field{
		{name: "MemberId", kind: text},
		{name: "Assignment", kind: data},
	}},
}

var describeGroupsSchema = []field{
	{name: "Groups", kind: values, of: []field{{kind: text}}},
	{name: "IncludeAuthorizedOperations", kind: int8Field, since: 3},
}

var listGroupsSchema = []field{
	{name: "StatesFilter", kind: values, since: 4, of: []field{{kind: text}}},
}

var deleteGroupsSchema = []field{
	{name: "GroupsNames", kind: values, of: []field{{kind: text}}},
}

var offsetDeleteSchema = []field{
	{name: "GroupId", kind: text},
	{name: "Topics", kind: list, of: []field{
		{name: "Name", kind: text},
		{name: "Partitions", kind: list, of: []field{
			{name: "PartitionIndex", kind: int32Field},
		}},
	}},
}
