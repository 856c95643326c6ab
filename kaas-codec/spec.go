package codec

import "slices"

// ApiSpec is one row of the registry: a request key and the versions that kaas
// serves, which are those of Apache Kafka 3.7.2 and a few additions.
type ApiSpec struct {
	// Key is the number in the request header (Kafka's ApiKeys.id).
	Key int16
	// Name is Kafka's name of the key, as its tools print it.
	Name string
	// MinVersion and MaxVersion bound the served versions, both inclusive.
	MinVersion, MaxVersion int16
	// FlexibleFrom is the first version with compact lengths and tagged fields
	// (KIP-482), or -1 when no version has them.
	FlexibleFrom int16
}

const neverFlexible = -1

// specs is ascending by key.
var specs = []ApiSpec{
	{0, "Produce", 0, 10, 9},
	{1, "Fetch", 0, 16, 12},
	{2, "ListOffsets", 0, 8, 6},
	{3, "Metadata", 0, 12, 9},
	{8, "OffsetCommit", 0, 9, 8},
	{9, "OffsetFetch", 0, 9, 6},
	{10, "FindCoordinator", 0, 4, 3},
	{11, "JoinGroup", 0, 9, 6},
	{12, "Heartbeat", 0, 4, 4},
	{13, "LeaveGroup", 0, 5, 4},
	{14, "SyncGroup", 0, 5, 4},
	{15, "DescribeGroups", 0, 5, 5},
	{16, "ListGroups", 0, 4, 3},
	{17, "SaslHandshake", 0, 1, neverFlexible},
	{18, "ApiVersions", 0, 3, 3},
	{19, "CreateTopics", 0, 7, 5},
	{20, "DeleteTopics", 0, 6, 4},
	{21, "DeleteRecords", 0, 2, 2},
	{22, "InitProducerId", 0, 4, 2},
	{23, "OffsetForLeaderEpoch", 0, 4, 4},
	{24, "AddPartitionsToTxn", 0, 4, 3},
	{25, "AddOffsetsToTxn", 0, 3, 3},
	{26, "EndTxn", 0, 3, 3},
	{27, "WriteTxnMarkers", 0, 1, 1},
	{28, "TxnOffsetCommit", 0, 3, 3},
	{29, "DescribeAcls", 0, 3, 2},
	{30, "CreateAcls", 0, 3, 2},
	{31, "DeleteAcls", 0, 3, 2},
	{32, "DescribeConfigs", 0, 4, 4},
	{33, "AlterConfigs", 0, 2, 2},
	{34, "AlterReplicaLogDirs", 0, 2, 2},
	{35, "DescribeLogDirs", 0, 4, 2},
	{36, "SaslAuthenticate", 0, 2, 2},
	{37, "CreatePartitions", 0, 3, 2},
	{42, "DeleteGroups", 0, 2, 2},
	{43, "ElectLeaders", 0, 2, 2},
	{44, "IncrementalAlterConfigs", 0, 1, 1},
	{45, "AlterPartitionReassignments", 0, 0, 0},
	{46, "ListPartitionReassignments", 0, 0, 0},
	{47, "OffsetDelete", 0, 0, neverFlexible},
	{48, "DescribeClientQuotas", 0, 1, 1},
	{49, "AlterClientQuotas", 0, 1, 1},
	{50, "DescribeUserScramCredentials", 0, 0, 0},
	{51, "AlterUserScramCredentials", 0, 0, 0},
	{55, "DescribeQuorum", 0, 1, 0},
	{57, "UpdateFeatures", 0, 1, 0},
	{60, "DescribeCluster", 0, 2, 0},
	{61, "DescribeProducers", 0, 0, 0},
	{64, "UnregisterBroker", 0, 0, 0},
	{65, "DescribeTransactions", 0, 0, 0},
	{66, "ListTransactions", 0, 0, 0},
	{74, "ListClientMetricsResources", 0, 0, 0},
	{75, "DescribeTopicPartitions", 0, 0, 0},
}

// Specs returns every row of the registry, ascending by key. The slice is the
// caller's.
func Specs() []ApiSpec {
	return slices.Clone(specs)
}

// Lookup returns the row of a key, and whether the registry has one.
func Lookup(key int16) (ApiSpec, bool) {
	at, found := slices.BinarySearchFunc(specs, key, func(s ApiSpec, k int16) int {
		return int(s.Key) - int(k)
	})
	if !found {
		return ApiSpec{}, false
	}
	return specs[at], true
}

// Supports reports whether a version of the key is served.
func (s ApiSpec) Supports(version int16) bool {
	return version >= s.MinVersion && version <= s.MaxVersion
}

// Flexible reports whether a version of the key has compact lengths and tagged
// fields. Versions outside the served range follow the same rule, as Kafka's do.
func (s ApiSpec) Flexible(version int16) bool {
	return s.FlexibleFrom != neverFlexible && version >= s.FlexibleFrom
}
