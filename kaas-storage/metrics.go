package storage

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// metrics are the engine's instruments.
type metrics struct {
	takeovers metric.Float64Histogram
	commits   metric.Float64Histogram
	bytes     metric.Int64Counter
	ended     metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("github.com/kaas-rs/kaas/kaas-storage")
	var m metrics
	var errs [4]error
	m.takeovers, errs[0] = meter.Float64Histogram("kaas.storage.takeover.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from claim to service of a partition"))
	m.commits, errs[1] = meter.Float64Histogram("kaas.storage.commit.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of one group commit: write, sync, fence check"))
	m.bytes, errs[2] = meter.Int64Counter("kaas.storage.commit.bytes", metric.WithUnit("By"),
		metric.WithDescription("Bytes of record batches written"))
	m.ended, errs[3] = meter.Int64Counter("kaas.storage.leadership.ended",
		metric.WithDescription("Leaderships that ended by a fence or an error"))
	return &m, errors.Join(errs[:]...)
}

func (m *metrics) takeover(ctx context.Context, d time.Duration) {
	m.takeovers.Record(ctx, d.Seconds())
}

func (m *metrics) commit(ctx context.Context, d time.Duration, size int64) {
	m.commits.Record(ctx, d.Seconds())
	m.bytes.Add(ctx, size)
}
