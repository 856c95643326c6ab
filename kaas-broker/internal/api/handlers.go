package api

import (
	"context"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Partitions are the partitions that this broker leads.
type Partitions interface {
	// Partition never blocks. After the leadership has ended the partition may still be returned, so that reads go on; its own methods
	// say so. Errors: ownership.ErrTakingOver, ownership.ErrUnavailable, ownership.ErrUnknownPartition.
	Partition(t *catalog.Topic, index int32) (*storage.Partition, error)
	// Await is Partition, but waits while the partition is being taken over, until the first failure or the end of ctx.
	Await(ctx context.Context, t *catalog.Topic, index int32) (*storage.Partition, error)
}

// Topics is the store that creates and changes topics; what it has done is in the catalog when a call returns. See metastore.Store for the errors.
type Topics interface {
	CreateTopic(ctx context.Context, n metastore.NewTopic) (*catalog.Topic, error)
	DeleteTopic(ctx context.Context, topic string) error
	CreatePartitions(ctx context.Context, topic string, total int32, validateOnly bool) (*catalog.Topic, error)
	AlterTopicConfig(ctx context.Context, topic string, validateOnly bool, change func(overrides map[string]string) error) (*catalog.Topic, error)
}

// Deps are what the handlers work on. Catalog, Partitions, Topics, Groups, Transactions, ProducerIDs, Broker and Config are required.
type Deps struct {
	Catalog      *catalog.Catalog
	Partitions   Partitions
	Topics       Topics
	Groups       Groups
	Transactions Transactions
	ProducerIDs  ProducerIDs
	Broker       Identity
	Config       *config.Config
	// Authorizer decides who may do what; nil allows everything.
	Authorizer Authorizer
	// Tripwires counts where records are decoded; nil counts nothing.
	Tripwires *batch.Tripwires
	Logger    zerolog.Logger
	// Verifications counts partitions that the coordinator of a transaction was asked about, by result; nil counts nothing.
	Verifications metric.Int64Counter
	// Reasons counts members that ask to join or leave a group, by request and by what kind of reason they give; nil counts nothing.
	Reasons metric.Int64Counter
	// Now is the wall clock for record timestamps; nil is time.Now.
	Now func() time.Time
}

// Handlers answer requests. New makes them, Table lists them.
type Handlers struct {
	Deps

	sessions *fetchsession.Cache
	decodes  decodeSlots
	timers   timers
}

// New returns the handlers.
func New(d Deps) *Handlers {
	if d.Authorizer == nil {
		d.Authorizer = allowAll{}
	}
	if d.Verifications == nil {
		d.Verifications = noop.Int64Counter{}
	}
	if d.Reasons == nil {
		d.Reasons = noop.Int64Counter{}
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Handlers{
		Deps:     d,
		sessions: fetchsession.New(d.Config.Fetch.SessionSlots),
		decodes:  newDecodeSlots(),
	}
}
