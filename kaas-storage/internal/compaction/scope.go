package compaction

import (
	"errors"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// ErrOrder is returned for a batch that does not lie behind the one before it.
var ErrOrder = errors.New("batches are out of order")

// Scope is what the caller knows before it begins.
type Scope struct {
	// FirstDirty is the first offset that no earlier compaction has surveyed. Records below it are judged, but their keys are not remembered.
	FirstDirty int64
	// End is where the closed, stable, old enough part of the log ends: everything at or above it stays as it is. Every transaction that begins
	// below it must be decided.
	End int64
	// Now is the time of this compaction, in milliseconds since 1970.
	Now int64
	// DeleteRetention is how long a deletion or a marker without data stays readable from the first compaction that sees it [delete.retention.ms].
	DeleteRetention time.Duration
	// Aborted lists the aborted transactions that overlap the log from its start to End, in any order, repetitions allowed.
	Aborted []Aborted
	// Producers are those that the partition remembers. The last batch of each stays, without records if they go.
	Producers map[int64]Producer
	// MapBytes bounds the memory of the keys, see [NewOffsetMap].
	MapBytes int
	// Limit bounds the records of one batch, uncompressed. A batch above it counts as unreadable.
	Limit batch.Limit
	// Tripwires counts decodes and encodes at [batch.SiteCompaction]; nil counts nothing.
	Tripwires *batch.Tripwires
}

// Aborted is an entry of the index of aborted transactions, with the fields of the engine's own type.
type Aborted struct {
	ProducerID  int64
	FirstOffset int64
	LastOffset  int64 // of its marker
	LastStable  int64
}

// Producer is the last word of a producer (Kafka's LastRecord).
type Producer struct {
	// LastOffset is the last offset of its last batch of data in its current epoch, -1 when there is none: then its markers of the epoch stay.
	LastOffset int64
	Epoch      int16
}
