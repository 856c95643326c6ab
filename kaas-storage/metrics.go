package storage

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// metrics are the engine's instruments.
type metrics struct {
	takeovers metric.Float64Histogram
	commits   metric.Float64Histogram
	bytes     metric.Int64Counter
	ended     metric.Int64Counter

	compactions metric.Float64Histogram
	compacted   metric.Int64Counter
	kept        metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider) (*metrics, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("github.com/kaas-rs/kaas/kaas-storage")
	var m metrics
	var errs [7]error
	m.takeovers, errs[0] = meter.Float64Histogram("kaas.storage.takeover.duration", metric.WithUnit("s"),
		metric.WithDescription("Time from claim to service of a partition"))
	m.commits, errs[1] = meter.Float64Histogram("kaas.storage.commit.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of one group commit: write, sync, fence check"))
	m.bytes, errs[2] = meter.Int64Counter("kaas.storage.commit.bytes", metric.WithUnit("By"),
		metric.WithDescription("Bytes of record batches written"))
	m.ended, errs[3] = meter.Int64Counter("kaas.storage.leadership.ended",
		metric.WithDescription("Leaderships that ended by a fence or an error"))
	m.compactions, errs[4] = meter.Float64Histogram("kaas.storage.compaction.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of one compaction of a partition; outcome is ok or failed"))
	m.compacted, errs[5] = meter.Int64Counter("kaas.storage.compaction.read.bytes", metric.WithUnit("By"),
		metric.WithDescription("Bytes of record batches that compaction has read"))
	m.kept, errs[6] = meter.Int64Counter("kaas.storage.compaction.kept.bytes", metric.WithUnit("By"),
		metric.WithDescription("Bytes of record batches that compaction has kept of them"))
	return &m, errors.Join(errs[:]...)
}

func (m *metrics) takeover(ctx context.Context, d time.Duration) {
	m.takeovers.Record(ctx, d.Seconds())
}

func (m *metrics) commit(ctx context.Context, d time.Duration, size int64) {
	m.commits.Record(ctx, d.Seconds())
	m.bytes.Add(ctx, size)
}

// compaction counts one that has ended; what it kept only counts when it is in use.
func (m *metrics) compaction(ctx context.Context, d time.Duration, stats compaction.Stats, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	m.compactions.Record(ctx, d.Seconds(), metric.WithAttributes(attribute.String("outcome", outcome)))
	if err == nil {
		m.compacted.Add(ctx, stats.BytesRead)
		m.kept.Add(ctx, stats.BytesKept)
	}
}
