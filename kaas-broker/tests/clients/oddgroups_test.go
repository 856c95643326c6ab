package clients

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// oddIDs are ids of groups and transactions over which a broker may stumble that makes file names or keys of them.
var oddIDs = []string{
	"a/../b", "../../escape", "/", ".", "..", "a.b", "a\x00b", `quote " and \ backslash`, "line\nbreak", " ", strings.Repeat("g", 1000), "grüppe-🦊", "%2F", "offset", "group", "\xff not UTF-8",
}

// Groups and transactions with odd ids keep what they have committed, each its own, over requests that are refused and over kill -9.
func TestOddGroupsLoseNothing(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: atOnce})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 2)
	client := newFranz(t, broker.Bootstrap())
	want := map[string]map[int32]int64{}
	for i, id := range oddIDs {
		plain, staged := int64(10+i), int64(100+i)
		if code := commitOne(t, client, id, "", -1, topic, 0, plain, ""); code != 0 {
			t.Fatalf("commit of %q: %v", id, kerr.ErrorForCode(code))
		}
		producer := newFranz(t, broker.Bootstrap(), kgo.TransactionalID(id), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(t.Context(), &kgo.Record{Partition: 1, Value: []byte(id)}).FirstErr(); err != nil {
			t.Fatalf("produce in transaction %q: %v", id, err)
		}
		stageOne(t, producer, id, topic, staged)
		if err := producer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatalf("commit of transaction %q: %v", id, err)
		}
		want[id] = map[int32]int64{0: plain, 1: staged}
	}
	checkOddGroups(t, client, topic, want)
	for _, id := range oddIDs {
		refuseAll(t, client, id, topic)
	}
	checkOddGroups(t, client, topic, want)
	broker.Kill(t)
	broker.Resume(t)
	checkOddGroups(t, client, topic, want)
}

// checkOddGroups compares what each group has committed.
func checkOddGroups(t *testing.T, client *kgo.Client, topic string, want map[string]map[int32]int64) {
	t.Helper()
	for id, offsets := range want {
		got, err := committedOffsets(t.Context(), client, id, topic)
		if err != nil || got[0] != offsets[0] || got[1] != offsets[1] || len(got) != 2 {
			t.Errorf("group %q has %v, want %v: %v", id, got, offsets, err)
		}
	}
}

// refuseAll sends what a group must refuse.
func refuseAll(t *testing.T, client *kgo.Client, id, topic string) {
	t.Helper()
	for name, refused := range map[string]struct {
		member     string
		generation int32
		metadata   string
		want       *kerr.Error
	}{
		"an unknown member":  {"nobody", 1, "", kerr.UnknownMemberID},
		"a wrong generation": {"", 7, "", kerr.UnknownMemberID},
		"oversize metadata":  {"", -1, strings.Repeat("m", 4097), kerr.OffsetMetadataTooLarge},
	} {
		if code := commitOne(t, client, id, refused.member, refused.generation, topic, 0, 9999, refused.metadata); code != refused.want.Code {
			t.Errorf("%s of %q: %v, want %v", name, id, kerr.ErrorForCode(code), refused.want)
		}
	}
	foreign := kmsg.NewPtrTxnOffsetCommitRequest()
	foreign.TransactionalID, foreign.Group, foreign.ProducerID, foreign.ProducerEpoch, foreign.Generation = id, id, 1<<40, 0, -1
	foreign.Topics = []kmsg.TxnOffsetCommitRequestTopic{stagedTopic(topic, 9999)}
	response, err := foreign.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if code := response.Topics[0].Partitions[0].ErrorCode; code != kerr.InvalidProducerIDMapping.Code {
		t.Errorf("a foreign producer id of %q: %v", id, kerr.ErrorForCode(code))
	}
}

// commitOne commits one offset and returns the error code.
func commitOne(t *testing.T, client *kgo.Client, group, member string, generation int32, topic string, partition int32, offset int64, metadata string) int16 {
	t.Helper()
	row := kmsg.NewOffsetCommitRequestTopicPartition()
	row.Partition, row.Offset, row.Metadata = partition, offset, &metadata
	asked := kmsg.NewOffsetCommitRequestTopic()
	asked.Topic, asked.Partitions = topic, append(asked.Partitions, row)
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.MemberID, request.Generation, request.Topics = group, member, generation, append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatalf("commit of %q: %v", group, err)
	}
	return response.Topics[0].Partitions[0].ErrorCode
}

func stagedTopic(topic string, offset int64) kmsg.TxnOffsetCommitRequestTopic {
	row := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	row.Partition, row.Offset = 1, offset
	staged := kmsg.NewTxnOffsetCommitRequestTopic()
	staged.Topic, staged.Partitions = topic, append(staged.Partitions, row)
	return staged
}

// stageOne stages an offset of partition 1 in the open transaction of a producer whose transactional id is the group's.
func stageOne(t *testing.T, producer *kgo.Client, id, topic string, offset int64) {
	t.Helper()
	number, epoch, err := producer.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, number, epoch, id
	added, err := add.RequestWith(t.Context(), producer)
	if err != nil || added.ErrorCode != 0 {
		t.Fatalf("add group %q: %v", id, errors.Join(err, kerr.ErrorForCode(added.ErrorCode)))
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.Group, commit.ProducerID, commit.ProducerEpoch, commit.Generation = id, id, number, epoch, -1
	commit.Topics = []kmsg.TxnOffsetCommitRequestTopic{stagedTopic(topic, offset)}
	committed, err := commit.RequestWith(t.Context(), producer)
	if err != nil || committed.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("stage an offset of %q: %v %+v", id, err, committed)
	}
}
