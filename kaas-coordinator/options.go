package coordinator

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clock"
)

// Source gives the partitions of the slots. Whoever implements it takes them over, with slot.Config, and owns them: the coordinator neither closes
// them nor hands them over.
type Source interface {
	// Acquire waits until this process leads the slot and returns its partition, which is not Done. It is called again when that has ended.
	Acquire(ctx context.Context, slot int) (*storage.Partition, error)
}

// Topics knows the topics of the cluster.
type Topics interface {
	// TopicID returns the id of the topic of this name; false when there is none.
	TopicID(name string) (uuid.UUID, bool)
}

// Options configure a Coordinator. Source is required.
type Options struct {
	Source    Source
	Slots     int    // of the cluster, see slot.EnsureSlots; 0 means slot.DefaultCount
	Topics    Topics // tells incarnations of a topic apart when offsets are read; nil: they are not
	Groups    group.Config
	Offsets   OffsetConfig
	Logger    zerolog.Logger
	Tripwires *batch.Tripwires
	Clock     *clock.Clock // by which offsets, ids and markers are old; nil: one of its own

	Transactions TransactionOptions
	ProducerIDs  ProducerIDs // nil: nobody can register a transactional producer
	Delivery     Delivery    // nil: transactions with partitions stay prepared
}

// ProducerIDs gives out producer ids.
type ProducerIDs interface {
	// Next returns an id that was never given out before.
	Next(ctx context.Context) (int64, error)
}

// TransactionOptions hold the broker's settings for transactions.
type TransactionOptions struct {
	MaxTimeout time.Duration // that a producer may ask for [transaction.max.timeout.ms]; 0 means 15 min
	// ReapInterval is the time between looks for transactions that timed out [transaction.abort.timed.out.transaction.cleanup.interval.ms]; 0 means
	// 10 s, negative never.
	ReapInterval time.Duration
	// IDExpiry is how long an id without a transaction is kept [transactional.id.expiration.ms]; 0 means 7 days.
	IDExpiry time.Duration
	// IDReapInterval is the time between looks for such ids [transaction.remove.expired.transaction.cleanup.interval.ms]; 0 means 1 h, negative
	// never.
	IDReapInterval time.Duration
	ProducerExpiry time.Duration // how long the last marker of a producer is kept [producer.id.expiration.ms]; 0 means 1 day
	// SkipVerification stages offsets without asking whether they are part of a transaction
	// [transaction.partition.verification.enable = false].
	SkipVerification bool
}

func (o TransactionOptions) withDefaults() TransactionOptions {
	o.MaxTimeout = cmp.Or(o.MaxTimeout, 15*time.Minute)
	o.ReapInterval = cmp.Or(o.ReapInterval, 10*time.Second)
	o.IDExpiry = cmp.Or(o.IDExpiry, 7*24*time.Hour)
	o.IDReapInterval = cmp.Or(o.IDReapInterval, time.Hour)
	o.ProducerExpiry = cmp.Or(o.ProducerExpiry, 24*time.Hour)
	return o
}

// OffsetConfig holds the broker's settings for offsets.
type OffsetConfig struct {
	Retention     time.Duration // of offsets that nobody uses [offsets.retention.minutes]; 0 means 7 days
	CheckInterval time.Duration // between looks for expired offsets [offsets.retention.check.interval.ms]; 0 means 10 min, negative never
	MaxMetadata   int           // letters (UTF-16) of metadata of an offset [offset.metadata.max.bytes]; 0 means 4096, negative none
}

// largeMembers is how many bytes all members may take that take more than usual, unless Options say otherwise. Kafka bounds each group by its record, 1 MB by
// default, but not all together.
const largeMembers = 128 << 20

func (o Options) withDefaults() Options {
	o.Slots = cmp.Or(o.Slots, slot.DefaultCount)
	if o.Groups == (group.Config{}) {
		o.Groups = group.DefaultConfig()
	}
	if o.Groups.Room == nil {
		o.Groups.Room = group.NewRoom(largeMembers)
	}
	if o.Offsets.Retention == 0 {
		o.Offsets.Retention = 7 * 24 * time.Hour
	}
	if o.Offsets.CheckInterval == 0 {
		o.Offsets.CheckInterval = 10 * time.Minute
	}
	o.Offsets.MaxMetadata = max(cmp.Or(o.Offsets.MaxMetadata, 4096), 0)
	o.Transactions = o.Transactions.withDefaults()
	if o.Clock == nil {
		o.Clock = clock.New(time.Now)
	}
	return o
}
