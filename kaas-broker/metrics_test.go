package broker_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
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

func (c *counts) transactions() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := map[string]int64{}
	for name, n := range c.sums {
		if strings.HasPrefix(name, "kaas.transactions") {
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
