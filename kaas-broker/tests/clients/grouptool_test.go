package clients

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// groupTool is what happens between two runs of kafka-consumer-groups.sh.
type groupTool struct {
	t       *testing.T
	broker  *harness.Broker
	members []*kgo.Client
}

func (g *groupTool) steps() map[string]func() {
	return map[string]func(){
		"commit": func() {
			g.commit("idle", "first", 0, 4)
			g.commit("idle", "first", 1, 0)
			g.commit("idle", "second", 0, 1)
			g.commit("idle2", "second", 0, 2)
			g.commit("odd/name", "second", 0, 3)
		},
		"join": func() {
			g.join("watcher", kgo.ConsumerGroup("busy"), kgo.ConsumeTopics("first"))
			g.commit("busy-before", "second", 0, 1)
			g.join("keeper", kgo.ConsumerGroup("placed"), kgo.ConsumeTopics("first", "second"), kgo.InstanceID("place-1"))
		},
		"leave": func() {
			for _, member := range g.members {
				member.Close()
			}
			g.removeStatic("placed", "place-1")
		},
	}
}

// join makes a member that has read something and has committed it.
func (g *groupTool) join(name string, options ...kgo.Opt) {
	member := newFranz(g.t, g.broker.Bootstrap(), append([]kgo.Opt{
		kgo.ClientID(name), kgo.Balancers(kgo.RangeBalancer()), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}, options...)...)
	g.members = append(g.members, member)
	for read := 0; read < 18; {
		fetches := member.PollFetches(g.t.Context())
		if err := fetches.Err(); err != nil {
			g.t.Fatal(err)
		}
		read += fetches.NumRecords()
	}
	if err := member.CommitUncommittedOffsets(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
}

// commit stores one offset as a program does that is no member.
func (g *groupTool) commit(group, topic string, partition int32, offset int64) {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group = group
	committed := kmsg.NewOffsetCommitRequestTopicPartition()
	committed.Partition, committed.Offset = partition, offset
	asked := kmsg.NewOffsetCommitRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, committed)
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(g.t.Context(), newFranz(g.t, g.broker.Bootstrap()))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		g.t.Fatalf("commit of %s: %v", group, err)
	}
}

func (g *groupTool) removeStatic(group, instance string) {
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = group
	member := kmsg.NewLeaveGroupRequestMember()
	member.InstanceID = &instance
	request.Members = append(request.Members, member)
	response, err := request.RequestWith(g.t.Context(), newFranz(g.t, g.broker.Bootstrap()))
	if err == nil {
		err = kerr.ErrorForCode(response.Members[0].ErrorCode)
	}
	if err != nil {
		g.t.Fatalf("removal of %s: %v", instance, err)
	}
}

// Apache Kafka's tool does all that it can do with groups, and prints what it prints of Apache Kafka.
func TestConsumerGroupsTool(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: atOnce, Decodes: []string{"timestamp-lookup"}})
	g := &groupTool{t: t, broker: broker}
	g.produce()
	plan, plans := filepath.Join(t.TempDir(), "plan.csv"), filepath.Join(t.TempDir(), "plans.csv")
	writeFile(t, plan, "first,0,2\nfirst,1,1\nsecond,0,4\n")
	writeFile(t, plans, "idle,first,0,5\nidle2,second,0,3\n")
	newToolbox(t, broker, "kafka.admin.ConsumerGroupCommand", masked(`ADDRESS \(\d+\)`, "ADDRESS (NODE)")).
		follow("testdata/consumer-groups.txt", g.steps(), "{plan}", plan, "{plans}", plans)
}

// produce fills two topics with records of known times.
func (g *groupTool) produce() {
	createTopic(g.t, g.broker.Bootstrap(), "first", 2, "retention.ms", "-1")
	createTopic(g.t, g.broker.Bootstrap(), "second", 1)
	var records []*kgo.Record
	for second := range 10 {
		at := time.Date(2024, 5, 1, 0, 0, second, 0, time.UTC)
		for partition := range int32(2) {
			records = append(records, &kgo.Record{Topic: "first", Partition: partition, Value: fmt.Append(nil, second), Timestamp: at})
		}
	}
	for _, ago := range []time.Duration{4 * time.Hour, 2 * time.Hour, 90 * time.Minute, 30 * time.Minute, 10 * time.Minute} {
		records = append(records, &kgo.Record{Topic: "second", Value: []byte(ago.String()), Timestamp: time.Now().Add(-ago)})
	}
	producer := newFranz(g.t, g.broker.Bootstrap(), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := producer.ProduceSync(g.t.Context(), records...).FirstErr(); err != nil {
		g.t.Fatal(err)
	}
}
