package broker

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/metric"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/health"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-broker/internal/producerids"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// ErrFenced ends Run when another process has taken over the data or cluster directory. Two processes never fight over one.
var ErrFenced = errors.New("another process has taken over this broker's directory")

// Options are what a broker is made of. Config is required.
type Options struct {
	Config        *config.Config
	Version       string // for /healthz and messages
	Logger        zerolog.Logger
	MeterProvider metric.MeterProvider // nil: no metrics
	// OpenFiles is how many files this process may open: partitions for which that is too few are refused. 0: nobody knows.
	OpenFiles int64
	// Memory keeps everything, in either mode, so that it can outlive the broker; it stays the caller's to close. nil: new memory in dev mode, the configured
	// directories in single mode.
	Memory vfs.FS
	// Listen binds the address of a listener, for networks in memory. nil: TCP.
	Listen func(ctx context.Context, address string) (net.Listener, error)
	// WrapFS puts a file system in front of the real one, for tests that inject faults. nil: none.
	WrapFS func(vfs.FS) vfs.FS
	// WrapAPI puts a function around every handler, for tests that inject errors and delays. nil: none.
	WrapAPI func(protocol.API) protocol.API
	// WrapDelivery puts something in front of the way of markers to partitions, for tests that lose and delay them. nil: none.
	WrapDelivery func(coordinator.Delivery) coordinator.Delivery
}

// Broker is one opened broker. Open makes it, Run serves until its context ends, Close releases one that never ran.
type Broker struct {
	options     Options
	config      *config.Config
	log         zerolog.Logger
	started     time.Time
	tripwires   *batch.Tripwires
	meters      *meters
	stores      *stores
	engine      *storage.Engine
	catalog     *catalog.Catalog
	partitions  *ownership.Manager
	producerIDs *producerids.Allocator
	groups      *coordinator.Coordinator
	topics      *metastore.Store
	server      *protocol.Server
	health      *health.Server
	addresses   addresses

	draining  atomic.Bool
	fenceOnce sync.Once
	fenced    chan error // of capacity 1
	closeOnce sync.Once
	closed    error
}

// Open binds the listeners, then opens the directories and the topics, and claims what single mode must own alone. Nothing is served before Run.
// An error names the directory, file or address that is to blame, and leaves nothing open.
func Open(ctx context.Context, o Options) (*Broker, error) {
	b := &Broker{
		options: o, config: o.Config, log: o.Logger, started: time.Now(),
		tripwires: &batch.Tripwires{}, catalog: catalog.New(), fenced: make(chan error, 1),
	}
	if err := b.open(ctx); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Broker) open(ctx context.Context) error {
	var err error
	if b.meters, err = newMeters(b.options.MeterProvider); err != nil {
		return err
	}
	if b.addresses, err = bind(ctx, b.config.Listeners, b.options.Listen); err != nil {
		return err
	}
	if err := b.openHealth(ctx); err != nil {
		return err
	}
	if b.stores, err = openStores(ctx, b.options); err != nil {
		return err
	}
	if err := b.openEngine(); err != nil {
		return err
	}
	b.partitions = ownership.New(b.ownership())
	b.producerIDs = producerids.New(b.stores.cluster)
	b.groups = coordinator.New(b.coordination())
	if b.topics, err = metastore.Open(ctx, b.metadata()); err != nil {
		return err
	}
	if b.server, err = protocol.New(b.protocol()); err != nil {
		return err
	}
	return b.server.Listen()
}

// ClusterID is the id of the cluster, made once and kept in the cluster directory.
func (b *Broker) ClusterID() string { return b.stores.cluster.ClusterID() }

// Addr is the bound address of a listener, nil for an unknown name.
func (b *Broker) Addr(listener string) net.Addr { return b.server.Addr(listener) }

// Tripwires counts where records were decoded or batches encoded anew.
func (b *Broker) Tripwires() *batch.Tripwires { return b.tripwires }

// Close releases what Open opened, writing nothing. After Run it is not needed, and does nothing.
func (b *Broker) Close() error {
	b.closeOnce.Do(func() { b.closed = b.closeAll() })
	return b.closed
}

// closeAll closes in the order in which one thing uses another: who is asked last is closed last.
func (b *Broker) closeAll() error {
	var errs []error
	if b.health != nil {
		errs = append(errs, b.health.Close())
	}
	errs = append(errs, b.addresses.close())
	if b.server != nil {
		errs = append(errs, b.server.Close())
	}
	if b.partitions != nil {
		b.partitions.Close()
	}
	if b.engine != nil {
		errs = append(errs, b.engine.Close())
	}
	if b.topics != nil {
		errs = append(errs, b.topics.Close())
	}
	if b.stores != nil {
		errs = append(errs, b.stores.close())
	}
	return errors.Join(errs...)
}
