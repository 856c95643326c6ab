package protocol

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const meterName = "github.com/kaas-rs/kaas/kaas-protocol"

// maxSoftware bounds the client software names that get a series of their own: clients choose them freely.
const maxSoftware = 100

// meters are the instruments of a server. Attribute sets that the request path uses are built once, per API
// and version, in apiMeter.
type meters struct {
	connections metric.Int64UpDownCounter
	accepted    metric.Int64Counter
	refused     metric.Int64Counter
	closed      metric.Int64Counter
	requests    metric.Int64Counter
	duration    metric.Float64Histogram
	errors      metric.Int64Counter
	panics      metric.Int64Counter
	throttled   metric.Float64Counter
	received    metric.Int64Counter
	sent        metric.Int64Counter
	software    metric.Int64Counter

	mutex sync.Mutex
	seen  map[[2]string]struct{}
}

// newMeters creates the instruments. An instrument that the provider refuses is an error of the provider's
// views; the API still returns one that works.
func newMeters(provider metric.MeterProvider) (*meters, error) {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	b := meterBuilder{meter: provider.Meter(meterName)}
	m := &meters{seen: make(map[[2]string]struct{})}
	m.accepted = b.count("kaas.connections.accepted", "{connection}", "Connections accepted, by listener.")
	m.refused = b.count("kaas.connections.refused", "{connection}", "Connections closed instead of served, by listener and reason.")
	m.closed = b.count("kaas.connections.closed", "{connection}", "Connections that ended, by listener and reason.")
	m.requests = b.count("kaas.requests", "{request}", "Requests started, by API and version.")
	m.errors = b.count("kaas.request.errors", "{request}", "Requests that closed their connection, by API and reason.")
	m.panics = b.count("kaas.request.panics", "{panic}", "Panics in handlers, by API.")
	m.received = b.count("kaas.network.received", "By", "Bytes of requests, by API.")
	m.sent = b.count("kaas.network.sent", "By", "Bytes of responses, by API.")
	m.software = b.count("kaas.client.software", "{connection}", "ApiVersions requests by client software name and version.")
	b.other(func(meter metric.Meter) (err error) {
		m.connections, err = meter.Int64UpDownCounter("kaas.connections", metric.WithUnit("{connection}"),
			metric.WithDescription("Open connections, by listener."))
		return err
	})
	b.other(func(meter metric.Meter) (err error) {
		m.duration, err = meter.Float64Histogram("kaas.request.duration", metric.WithUnit("s"),
			metric.WithDescription("Time from the whole request to the sent response, by API."))
		return err
	})
	b.other(func(meter metric.Meter) (err error) {
		m.throttled, err = meter.Float64Counter("kaas.request.throttle", metric.WithUnit("s"),
			metric.WithDescription("Time for which connections were muted by a quota, by API."))
		return err
	})
	return m, b.err
}

// meterBuilder keeps the first error.
type meterBuilder struct {
	meter metric.Meter
	err   error
}

func (b *meterBuilder) count(name, unit, description string) metric.Int64Counter {
	counter, err := b.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	b.other(func(metric.Meter) error { return err })
	return counter
}

func (b *meterBuilder) other(create func(metric.Meter) error) {
	if err := create(b.meter); err != nil && b.err == nil {
		b.err = err
	}
}

// apiMeter records for one API with attributes built beforehand, as the slices that the instruments take, so that nothing is allocated for a request.
type apiMeter struct {
	meters   *meters
	lowest   int16
	versions [][]metric.AddOption
	add      []metric.AddOption
	record   []metric.RecordOption
	name     attribute.KeyValue
}

func (m *meters) forAPI(spec codec.ApiSpec) *apiMeter {
	name := attribute.String("api", spec.Name)
	set := attribute.NewSet(name)
	a := &apiMeter{
		meters: m, lowest: spec.MinVersion, name: name,
		add: []metric.AddOption{metric.WithAttributeSet(set)}, record: []metric.RecordOption{metric.WithAttributeSet(set)},
	}
	for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
		option := metric.WithAttributeSet(attribute.NewSet(name, attribute.Int("version", int(version))))
		a.versions = append(a.versions, []metric.AddOption{option})
	}
	return a
}

// started counts a request; a version outside the served range (ApiVersions only) counts without one.
func (a *apiMeter) started(ctx context.Context, version int16, size int) {
	options := a.add
	if at := int(version) - int(a.lowest); at >= 0 && at < len(a.versions) {
		options = a.versions[at]
	}
	a.meters.requests.Add(ctx, 1, options...)
	a.meters.received.Add(ctx, int64(size)+4, a.add...)
}

// answered records a response that was sent, or an acks=0 request that was done.
func (a *apiMeter) answered(ctx context.Context, took time.Duration, sent int64, throttle time.Duration) {
	a.meters.duration.Record(ctx, took.Seconds(), a.record...)
	if sent > 0 {
		a.meters.sent.Add(ctx, sent, a.add...)
	}
	if throttle > 0 {
		a.meters.throttled.Add(ctx, throttle.Seconds(), a.add...)
	}
}

func (a *apiMeter) failed(ctx context.Context, reason string) {
	a.meters.errors.Add(ctx, 1, metric.WithAttributes(a.name, attribute.String("reason", reason)))
}

func (a *apiMeter) panicked(ctx context.Context) { a.meters.panics.Add(ctx, 1, a.add...) }

func (m *meters) opened(ctx context.Context, listener string) {
	option := metric.WithAttributes(attribute.String("listener", listener))
	m.accepted.Add(ctx, 1, option)
	m.connections.Add(ctx, 1, option)
}

func (m *meters) ended(ctx context.Context, listener, reason string) {
	name := attribute.String("listener", listener)
	m.connections.Add(ctx, -1, metric.WithAttributes(name))
	m.closed.Add(ctx, 1, metric.WithAttributes(name, attribute.String("reason", reason)))
}

func (m *meters) turnedAway(ctx context.Context, listener, reason string) {
	m.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("listener", listener), attribute.String("reason", reason)))
}

// introduced counts a client's software; names beyond the first maxSoftware share one series.
func (m *meters) introduced(ctx context.Context, name, version string) {
	key := [2]string{name, version}
	m.mutex.Lock()
	_, known := m.seen[key]
	if !known && len(m.seen) < maxSoftware {
		m.seen[key], known = struct{}{}, true
	}
	m.mutex.Unlock()
	if !known {
		name, version = "other", "other"
	}
	m.software.Add(ctx, 1, metric.WithAttributes(attribute.String("name", name), attribute.String("version", version)))
}
