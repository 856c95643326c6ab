package protocol_test

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/embedded"
	"go.opentelemetry.io/otel/metric/noop"
)

// counts is a MeterProvider that adds up counters by name and the values of their attributes.
type counts struct {
	noop.MeterProvider
	mutex sync.Mutex
	sums  map[string]map[string]float64
}

func newCounts() *counts { return &counts{sums: make(map[string]map[string]float64)} }

func (c *counts) Meter(string, ...metric.MeterOption) metric.Meter { return countMeter{counts: c} }

type countMeter struct {
	noop.Meter
	counts *counts
}

func (m countMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{counts: m.counts, name: name}, nil
}

func (m countMeter) Int64UpDownCounter(name string, _ ...metric.Int64UpDownCounterOption) (metric.Int64UpDownCounter, error) {
	return upDown{counter: counter{counts: m.counts, name: name}}, nil
}

func (m countMeter) Float64Histogram(name string, _ ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return histogram{counts: m.counts, name: name}, nil
}

func (m countMeter) Float64Counter(name string, _ ...metric.Float64CounterOption) (metric.Float64Counter, error) {
	return seconds{counts: m.counts, name: name}, nil
}

type counter struct {
	embedded.Int64Counter
	counts *counts
	name   string
}

func (c counter) Enabled(context.Context) bool { return true }

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	c.counts.add(c.name, metric.NewAddConfig(options).Attributes(), float64(n))
}

type upDown struct {
	embedded.Int64UpDownCounter
	counter counter
}

func (u upDown) Enabled(context.Context) bool { return true }

func (u upDown) Add(ctx context.Context, n int64, options ...metric.AddOption) {
	u.counter.Add(ctx, n, options...)
}

type seconds struct {
	embedded.Float64Counter
	counts *counts
	name   string
}

func (s seconds) Enabled(context.Context) bool { return true }

func (s seconds) Add(_ context.Context, n float64, options ...metric.AddOption) {
	s.counts.add(s.name, metric.NewAddConfig(options).Attributes(), n)
}

// histogram counts observations.
type histogram struct {
	embedded.Float64Histogram
	counts *counts
	name   string
}

func (h histogram) Enabled(context.Context) bool { return true }

func (h histogram) Record(_ context.Context, _ float64, options ...metric.RecordOption) {
	h.counts.add(h.name, metric.NewRecordConfig(options).Attributes(), 1)
}

func (c *counts) add(name string, attributes attribute.Set, n float64) {
	key := ""
	for _, pair := range attributes.ToSlice() {
		if key != "" {
			key += ","
		}
		key += pair.Value.String()
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.sums[name] == nil {
		c.sums[name] = make(map[string]float64)
	}
	c.sums[name][key] += n
}

// sum is the total of one counter with exactly these attribute values, in the order of their names.
func (c *counts) sum(name, values string) int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return int64(c.sums[name][values])
}
