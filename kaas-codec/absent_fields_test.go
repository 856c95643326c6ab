package codec_test

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// decoded returns what comes back of an encoded request, whatever else it holds.
func decoded[R kmsg.Request](t *testing.T, request R, version int16) R {
	t.Helper()
	request.SetVersion(version)
	body := request.AppendTo(nil)
	again, err := codec.DecodeRequest(codec.RequestHeader{Key: request.Key(), Version: version}, body)
	if err != nil {
		t.Fatalf("key %d version %d: %v", request.Key(), version, err)
	}
	return again.(R)
}

// Fields that a version does not have are what Kafka takes them for.
func TestAbsentFieldsAreAsInKafka(t *testing.T) {
	cases := []struct {
		name    string
		read    func(t *testing.T, version int16) string
		version int16
		want    string
	}{
		{"JoinGroup, the session timeout", readJoinGroup, 0, "10000"},
		{"JoinGroup, its own timeout", readJoinGroup, 1, "60000"},
		{"OffsetCommit without a member", readOffsetCommit, 0, "-1 -1 -1 -1"},
		{"OffsetCommit with a timestamp", readOffsetCommit, 1, "3 -1 5 -1"},
		{"OffsetCommit with retention", readOffsetCommit, 4, "3 4 -1 -1"},
		{"OffsetCommit with a leader epoch", readOffsetCommit, 6, "3 -1 -1 6"},
		{"TxnOffsetCommit without a member", readTxnOffsetCommit, 1, "-1 -1"},
		{"TxnOffsetCommit with a leader epoch", readTxnOffsetCommit, 2, "-1 6"},
		{"TxnOffsetCommit with a member", readTxnOffsetCommit, 3, "3 6"},
		{"OffsetFetch of no topics", readOffsetFetch([]kmsg.OffsetFetchRequestTopic{}), 2, "all false, groups 0"},
		{"OffsetFetch of all topics", readOffsetFetch(nil), 7, "all true, groups 0"},
		{"OffsetFetch of groups", readOffsetFetch(nil), 8, "all false, groups 1"},
		{"OffsetFetch of all topics of a group", readAllOfGroup, 8, "false true -1"},
		{"OffsetFetch with a member epoch", readAllOfGroup, 9, "false true 7"},
		{"DescribeAcls, literal", readDescribeACLs, 0, "LITERAL"},
		{"DescribeAcls, as it says", readDescribeACLs, 1, "PREFIXED"},
		{"CreateAcls, literal", readCreateACLs, 0, "LITERAL"},
		{"CreateAcls, as it says", readCreateACLs, 1, "PREFIXED"},
		{"DeleteAcls, literal", readDeleteACLs, 0, "LITERAL"},
		{"DeleteAcls, as it says", readDeleteACLs, 1, "PREFIXED"},
		{"UpdateFeatures by a boolean", readUpdateFeatures, 0, "1 2"},
		{"UpdateFeatures by a type", readUpdateFeatures, 1, "3 3"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s/v%d", c.name, c.version), func(t *testing.T) {
			if got := c.read(t, c.version); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func readJoinGroup(t *testing.T, version int16) string {
	request := kmsg.NewPtrJoinGroupRequest()
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = 10_000, 60_000
	return fmt.Sprint(decoded(t, request, version).RebalanceTimeoutMillis)
}

func readOffsetCommit(t *testing.T, version int16) string {
	request := kmsg.NewPtrOffsetCommitRequest()
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitRequestTopicPartition{Timestamp: 5, LeaderEpoch: 6})
	request.Generation, request.RetentionTimeMillis, request.Topics = 3, 4, append(request.Topics, topic)
	again := decoded(t, request, version)
	partition := again.Topics[0].Partitions[0]
	return fmt.Sprint(again.Generation, again.RetentionTimeMillis, partition.Timestamp, partition.LeaderEpoch)
}

func readTxnOffsetCommit(t *testing.T, version int16) string {
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Partitions = append(topic.Partitions, kmsg.TxnOffsetCommitRequestTopicPartition{LeaderEpoch: 6})
	request.Generation, request.Topics = 3, append(request.Topics, topic)
	again := decoded(t, request, version)
	return fmt.Sprint(again.Generation, again.Topics[0].Partitions[0].LeaderEpoch)
}

func readOffsetFetch(topics []kmsg.OffsetFetchRequestTopic) func(t *testing.T, version int16) string {
	return func(t *testing.T, version int16) string {
		request := kmsg.NewPtrOffsetFetchRequest()
		request.Topics, request.Groups = topics, append(request.Groups, kmsg.NewOffsetFetchRequestGroup())
		again := decoded(t, request, version)
		return fmt.Sprintf("all %v, groups %d", again.Topics == nil, len(again.Groups))
	}
}

func readAllOfGroup(t *testing.T, version int16) string {
	request := kmsg.NewPtrOffsetFetchRequest()
	none, all := kmsg.NewOffsetFetchRequestGroup(), kmsg.NewOffsetFetchRequestGroup()
	none.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
	none.MemberEpoch = 7
	request.Groups = append(request.Groups, none, all)
	again := decoded(t, request, version)
	return fmt.Sprint(again.Groups[0].Topics == nil, again.Groups[1].Topics == nil, again.Groups[0].MemberEpoch)
}

func readDescribeACLs(t *testing.T, version int16) string {
	request := kmsg.NewPtrDescribeACLsRequest()
	request.ResourcePatternType = 4
	return fmt.Sprint(decoded(t, request, version).ResourcePatternType)
}

func readCreateACLs(t *testing.T, version int16) string {
	request := kmsg.NewPtrCreateACLsRequest()
	request.Creations = append(request.Creations, kmsg.CreateACLsRequestCreation{ResourcePatternType: 4})
	return fmt.Sprint(decoded(t, request, version).Creations[0].ResourcePatternType)
}

func readDeleteACLs(t *testing.T, version int16) string {
	request := kmsg.NewPtrDeleteACLsRequest()
	request.Filters = append(request.Filters, kmsg.DeleteACLsRequestFilter{ResourcePatternType: 4})
	return fmt.Sprint(decoded(t, request, version).Filters[0].ResourcePatternType)
}

func readUpdateFeatures(t *testing.T, version int16) string {
	request := kmsg.NewPtrUpdateFeaturesRequest()
	request.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{UpgradeType: 3}, {AllowDowngrade: true, UpgradeType: 3}}
	again := decoded(t, request, version)
	return fmt.Sprint(again.FeatureUpdates[0].UpgradeType, again.FeatureUpdates[1].UpgradeType)
}

// An absent list and an empty one stay apart where they mean different things.
func TestNullListsStayNull(t *testing.T) {
	cases := []struct {
		name string
		nils func(null bool) bool // whether the list comes back as nil
	}{
		{"DescribeLogDirs topics", func(null bool) bool {
			request := kmsg.NewPtrDescribeLogDirsRequest()
			if !null {
				request.Topics = []kmsg.DescribeLogDirsRequestTopic{}
			}
			return decoded(t, request, 4).Topics == nil
		}},
		{"ElectLeaders topics", func(null bool) bool {
			request := kmsg.NewPtrElectLeadersRequest()
			if !null {
				request.Topics = []kmsg.ElectLeadersRequestTopic{}
			}
			return decoded(t, request, 1).Topics == nil
		}},
		{"ListPartitionReassignments topics", func(null bool) bool {
			request := kmsg.NewPtrListPartitionReassignmentsRequest()
			if !null {
				request.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{}
			}
			return decoded(t, request, 0).Topics == nil
		}},
		{"AlterPartitionReassignments replicas", func(null bool) bool {
			partition := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
			if !null {
				partition.Replicas = []int32{}
			}
			topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
			topic.Partitions = append(topic.Partitions, partition)
			request := kmsg.NewPtrAlterPartitionAssignmentsRequest()
			request.Topics = append(request.Topics, topic)
			return decoded(t, request, 0).Topics[0].Partitions[0].Replicas == nil
		}},
		{"DescribeUserScramCredentials users", func(null bool) bool {
			request := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
			if !null {
				request.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{}
			}
			return decoded(t, request, 0).Users == nil
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !c.nils(true) || c.nils(false) {
				t.Errorf("null comes back as nil: %v, empty as nil: %v", c.nils(true), c.nils(false))
			}
		})
	}
}
