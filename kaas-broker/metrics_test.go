package broker_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/metric/noop"

	broker "github.com/kaas-rs/kaas/kaas-broker"
)

// counts is a MeterProvider that adds up counters by name and the values of their attributes.
type counts struct {
	noop.MeterProvider
	mutex sync.Mutex
	sums  map[string]int64
}

func (c *counts) Meter(string, ...metric.MeterOption) metric.Meter { return countMeter{counts: c} }

type countMeter struct {
	noop.Meter
	counts *counts
}

func (m countMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{counts: m.counts, name: name}, nil
}

type counter struct {
	embedded.Int64Counter
	counts *counts
	name   string
}

func (c counter) Enabled(context.Context) bool { return true }

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	name := c.name
	set := metric.NewAddConfig(options).Attributes()
	for _, pair := range set.ToSlice() {
		name += " " + pair.Value.String()
	}
	c.counts.mutex.Lock()
	defer c.counts.mutex.Unlock()
	if n != 0 {
		c.counts.sums[name] += n
	}
}

func (c *counts) transactions() map[string]int64 { return c.of("kaas.transactions") }

// of are the sums of the counters whose names begin so.
func (c *counts) of(prefix string) map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := map[string]int64{}
	for name, n := range c.sums {
		if strings.HasPrefix(name, prefix) {
			found[name] = n
		}
	}
	return found
}

func TestTransactionsAreCounted(t *testing.T) {
	counted := &counts{sums: map[string]int64{}}
	b := open(t, broker.Options{MeterProvider: counted})
	serve(t, b)
	if err := b.CreateTopic(within(t), "orders", 2, nil); err != nil {
		t.Fatal(err)
	}
	producer := newClient(t, b, kgo.TransactionalID("orders"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryCommit, kgo.TryAbort} {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for partition := range int32(2) {
			if err := producer.ProduceSync(within(t), &kgo.Record{Topic: "orders", Partition: partition}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := producer.EndTransaction(within(t), end); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int64{"kaas.transactions.verifications granted": 6, "kaas.transactions.markers commit": 4, "kaas.transactions.markers abort": 2}
	// The last markers are placed behind the answer.
	deadline := time.Now().Add(patience)
	for ; !maps.Equal(counted.transactions(), want) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if got := counted.transactions(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// Reasons of members are counted by kind: their texts are the clients'.
func TestReasonsAreCounted(t *testing.T) {
	counted := &counts{sums: map[string]int64{}}
	b := open(t, broker.Options{MeterProvider: counted})
	serve(t, b)
	client := newClient(t, b)
	for _, reason := range []string{"", "rebalance failed due to UnknownMemberIdException", "because I can", "because I want"} {
		join := kmsg.NewPtrJoinGroupRequest()
		join.Group, join.ProtocolType, join.SessionTimeoutMillis, join.Reason = "readers", "consumer", 10_000, &reason
		join.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range"}}
		if _, err := join.RequestWith(within(t), client); err != nil {
			t.Fatal(err)
		}
	}
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Group = "readers"
	for _, reason := range []string{"the consumer is being closed", "member was removed by an admin: maintenance"} {
		leave.Members = append(leave.Members, kmsg.LeaveGroupRequestMember{MemberID: "nobody", Reason: &reason})
	}
	if _, err := leave.RequestWith(within(t), client); err != nil {
		t.Fatal(err)
	}
	// The attributes are in the order of their names: reason, request.
	want := map[string]int64{
		"kaas.groups.reasons none join": 1, "kaas.groups.reasons rebalance_failed join": 1, "kaas.groups.reasons other join": 2,
		"kaas.groups.reasons closed leave": 1, "kaas.groups.reasons administrator leave": 1,
	}
	if got := counted.of("kaas.groups"); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}
