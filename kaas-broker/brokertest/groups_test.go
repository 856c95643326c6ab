package brokertest_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
)

// member consumes in a group and keeps what it was assigned and what it read.
type member struct {
	*kgo.Client
	mu       sync.Mutex
	assigned map[int32]bool
	read     map[string]int
}

func join(t *testing.T, b *brokertest.Broker, options ...kgo.Opt) *member {
	t.Helper()
	m := &member{assigned: map[int32]bool{}, read: map[string]int{}}
	change := func(has bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, changed map[string][]int32) {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, p := range changed["events"] {
				if has {
					m.assigned[p] = true
				} else {
					delete(m.assigned, p)
				}
			}
		}
	}
	var err error
	m.Client, err = kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(b.Bootstrap()...), kgo.ConsumerGroup("workers"), kgo.ConsumeTopics("events"),
		kgo.OnPartitionsAssigned(change(true)), kgo.OnPartitionsRevoked(change(false)), kgo.OnPartitionsLost(change(false)),
		kgo.HeartbeatInterval(100 * time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(), kgo.FetchMaxWait(200 * time.Millisecond),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// poll reads for a short time.
func (m *member) poll(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	m.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.read[string(r.Value)]++
	})
}

func (m *member) partitions() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.assigned))
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within time", what)
		}
	}
}

func produceEvents(t *testing.T, b *brokertest.Broker, from, to int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Bootstrap()...), kgo.DefaultProduceTopic("events"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := from; i < to; i++ {
		record := &kgo.Record{Partition: int32(i % 4), Value: []byte(strconv.Itoa(i))}
		if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMembersShareATopic(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 4, nil)
	produceEvents(t, b, 0, 40)
	one, two := join(t, b), join(t, b)
	both := func() { one.poll(t); two.poll(t) }
	until(t, "each has two", func() bool { both(); return len(one.partitions()) == 2 && len(two.partitions()) == 2 })
	all := slices.Sorted(slices.Values(slices.Concat(one.partitions(), two.partitions())))
	if !slices.Equal(all, []int32{0, 1, 2, 3}) {
		t.Errorf("assigned are %v", all)
	}
	two.Close()
	until(t, "one has all", func() bool { one.poll(t); return len(one.partitions()) == 4 })
}

func TestCommitsOutliveARestart(t *testing.T) {
	for name, instance := range map[string][]kgo.Opt{"dynamic": nil, "static": {kgo.InstanceID("worker-1")}} {
		t.Run(name, func(t *testing.T) {
			b := brokertest.Start(t)
			b.CreateTopic("events", 4, nil)
			produceEvents(t, b, 0, 40)
			before := join(t, b, instance...)
			until(t, "40 are read", func() bool { before.poll(t); return len(before.read) == 40 })
			if err := before.CommitUncommittedOffsets(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.Restart()
			// Without a rebalance that it would notice, the same member reads on.
			produceEvents(t, b, 40, 48)
			until(t, "48 are read", func() bool { before.poll(t); return len(before.read) == 48 })
			if err := before.CommitUncommittedOffsets(t.Context()); err != nil {
				t.Fatal(err)
			}
			before.Close()
			b.Restart()
			produceEvents(t, b, 48, 52)
			after := join(t, b, instance...)
			until(t, "the rest is read", func() bool { after.poll(t); return len(after.read) >= 4 })
			want := map[string]int{"48": 1, "49": 1, "50": 1, "51": 1}
			if !maps.Equal(after.read, want) {
				t.Errorf("read %v, want %v", after.read, want)
			}
		})
	}
}

func TestARecreatedTopicHasNoOffsets(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 1, nil)
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group, commit.Generation = "standalone", -1
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "events", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: 7, LeaderEpoch: -1, Timestamp: -1}}}}
	committed, err := commit.RequestWith(t.Context(), client)
	if err != nil || committed.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, committed)
	}
	fetch := func() int64 {
		request := kmsg.NewPtrOffsetFetchRequest()
		request.Group = "standalone"
		request.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "events", Partitions: []int32{0}}}
		request.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "standalone", MemberEpoch: -1, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "events", Partitions: []int32{0}}}}}
		answer, err := request.RequestWith(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Groups[0].Topics[0].Partitions[0].Offset
	}
	if got := fetch(); got != 7 {
		t.Fatalf("offset %d", got)
	}
	removal := kmsg.NewPtrDeleteTopicsRequest()
	removal.TimeoutMillis = 10_000
	removal.TopicNames, removal.Topics = []string{"events"}, []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("events")}}
	if answer, err := removal.RequestWith(t.Context(), client); err != nil || answer.Topics[0].ErrorCode != 0 {
		t.Fatal(err, answer)
	}
	b.CreateTopic("events", 1, nil)
	if got := fetch(); got != -1 {
		t.Errorf("offset %d of a topic that was made anew", got)
	}
	until(t, "the group without offsets is gone", func() bool {
		listed, err := kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), client)
		if err != nil {
			t.Fatal(err)
		}
		return len(listed.Groups) == 0
	})
}
