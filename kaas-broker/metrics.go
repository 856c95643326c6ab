package broker

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// meters are the instruments of what is neither a connection's nor the log's.
type meters struct {
	verifications metric.Int64Counter
	markers       metric.Int64Counter
	failures      metric.Int64Counter
	reasons       metric.Int64Counter

	commits, aborts metric.MeasurementOption
}

// newMeters creates the instruments. An error is of the provider's views.
func newMeters(provider metric.MeterProvider) (*meters, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("github.com/kaas-rs/kaas/kaas-broker")
	m := &meters{commits: outcome("commit"), aborts: outcome("abort")}
	var errs [4]error
	m.verifications, errs[0] = meter.Int64Counter("kaas.transactions.verifications", metric.WithUnit("{partition}"),
		metric.WithDescription("Partitions about which the coordinator was asked before the first records of a transaction, by result."))
	m.markers, errs[1] = meter.Int64Counter("kaas.transactions.markers", metric.WithUnit("{marker}"),
		metric.WithDescription("Markers that the coordinator has placed in partitions, by outcome of the transaction."))
	m.failures, errs[2] = meter.Int64Counter("kaas.transactions.marker.failures", metric.WithUnit("{marker}"),
		metric.WithDescription("Attempts to place a marker that will be made again, by outcome of the transaction."))
	m.reasons, errs[3] = meter.Int64Counter("kaas.groups.reasons", metric.WithUnit("{member}"),
		metric.WithDescription("Members that asked to join or leave a group, by request and by the kind of reason that they gave (KIP-800)."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}

func outcome(name string) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(attribute.String("outcome", name)))
}

// delivered counts the results of one attempt to deliver a marker.
func (m *meters) delivered(ctx context.Context, commit bool, errs []error) {
	of, failed := m.aborts, int64(0)
	if commit {
		of = m.commits
	}
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	m.markers.Add(ctx, int64(len(errs))-failed, of)
	m.failures.Add(ctx, failed, of)
}
