package api_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// slots makes the coordinator's slots.
func (b *bench) slots(cluster *clusterdir.Dir) *ownership.Slots {
	b.t.Helper()
	must(b.t, cluster.Root().Mkdir("slots"))
	dir, err := cluster.Root().OpenDir("slots")
	must(b.t, err)
	b.t.Cleanup(func() { _ = dir.Close() })
	_, err = slot.EnsureSlots(dir, slot.DefaultCount, 0)
	must(b.t, err)
	return &ownership.Slots{Count: slot.DefaultCount, Config: slot.Config(), Open: func(number int) (vfs.Dir, error) {
		return dir.OpenDir(slot.DirName(number))
	}}
}

// groupBench is a bench that coordinates groups, with the topic "events" of two partitions.
func groupBench(t *testing.T, choose ...func(*setup)) *bench {
	t.Helper()
	b := newBench(t, append([]func(*setup){func(s *setup) {
		s.groups = &coordinator.Options{Groups: group.DefaultConfig()}
		s.groups.Groups.InitialRebalanceDelay = 0
	}}, choose...)...)
	b.topic("events", 2)
	// So many ids fall into all slots.
	deadline := time.Now().Add(10 * time.Second)
	for i := 0; i < 1000; {
		switch err := b.groups.Status("id-" + strconv.Itoa(i)); {
		case err == nil:
			i++
		case time.Now().After(deadline):
			t.Fatal(err)
		default:
			time.Sleep(time.Millisecond)
		}
	}
	return b
}

func (b *bench) findGroup(version int16, id string) int16 {
	b.t.Helper()
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.Version, request.CoordinatorKey, request.CoordinatorKeys = version, id, []string{id}
	response := ask[*kmsg.FindCoordinatorResponse](b, request)
	if version < 4 {
		return response.ErrorCode
	}
	return response.Coordinators[0].ErrorCode
}

// joinOf asks for membership with a subscription to "events".
func joinOf(version int16, memberID string) *kmsg.JoinGroupRequest {
	request := kmsg.NewPtrJoinGroupRequest()
	request.Version, request.Group, request.MemberID = version, "workers", memberID
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis, request.ProtocolType = 10_000, 10_000, "consumer"
	subscription := kmsg.NewConsumerMemberMetadata()
	subscription.Topics = []string{"events"}
	request.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: subscription.AppendTo(nil)}}
	return request
}

func (b *bench) join(request *kmsg.JoinGroupRequest) *kmsg.JoinGroupResponse {
	b.t.Helper()
	return ask[*kmsg.JoinGroupResponse](b, request)
}

// member brings a group of one to Stable and returns its id; the generation is 1.
func (b *bench) member() string {
	b.t.Helper()
	joined := b.join(joinOf(3, ""))
	expectCode(b.t, "join", joined.ErrorCode, nil)
	expectCode(b.t, "sync", b.sync(3, joined.MemberID, joined.Generation, "assigned").ErrorCode, nil)
	return joined.MemberID
}

func (b *bench) sync(version int16, memberID string, generation int32, assignment string) *kmsg.SyncGroupResponse {
	b.t.Helper()
	request := kmsg.NewPtrSyncGroupRequest()
	request.Version, request.Group, request.MemberID, request.Generation = version, "workers", memberID, generation
	request.ProtocolType, request.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	request.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: memberID, MemberAssignment: []byte(assignment)}}
	return ask[*kmsg.SyncGroupResponse](b, request)
}

func (b *bench) beat(id, memberID string, generation int32) int16 {
	b.t.Helper()
	request := kmsg.NewPtrHeartbeatRequest()
	request.Version, request.Group, request.MemberID, request.Generation = 4, id, memberID, generation
	return ask[*kmsg.HeartbeatResponse](b, request).ErrorCode
}

// commitOf commits an offset of one partition, for nobody in particular.
func commitOf(version int16, id, topic string, partition int32, offset int64) *kmsg.OffsetCommitRequest {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Version, request.Group, request.Generation = version, id, -1
	row := kmsg.NewOffsetCommitRequestTopicPartition()
	row.Partition, row.Offset, row.LeaderEpoch, row.Metadata = partition, offset, 3, kmsg.StringPtr("note")
	request.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetCommitRequestTopicPartition{row}}}
	return request
}

func (b *bench) commit(request *kmsg.OffsetCommitRequest) int16 {
	b.t.Helper()
	return ask[*kmsg.OffsetCommitResponse](b, request).Topics[0].Partitions[0].ErrorCode
}

func expectCode(t testing.TB, what string, code int16, want *kerr.Error) {
	t.Helper()
	wanted := int16(0)
	if want != nil {
		wanted = want.Code
	}
	if code != wanted {
		t.Errorf("%s: %v, want %v", what, kerr.ErrorForCode(code), kerr.ErrorForCode(wanted))
	}
}
