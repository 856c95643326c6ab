package compaction

import "github.com/kaas-rs/kaas/kaas-codec/batch"

// Fate is what becomes of a batch.
type Fate int8

// The fates of a batch.
const (
	// Dropped: nothing is to be written.
	Dropped Fate = iota
	// Unchanged: the very bytes that were given.
	Unchanged
	// Rebuilt: with fewer records, or with a delete horizon. Offsets, sequences, producer, epochs, timestamp type and codec are the batch's; the maximum
	// timestamp is that of what stays (with LogAppendTime, as it was).
	Rebuilt
	// Emptied: a header without records, of which only the producer's sequence, the offsets and the maximum timestamp matter.
	Emptied
)

// Result is the decision about one batch.
type Result struct {
	Fate Fate
	// Batch is what to write: nil when dropped, the given batch itself when unchanged, else bytes in dst's memory or, where that was too small, in new memory, which
	// is a good next dst. It has the given batch's base and last offset; index it by its own header.
	Batch batch.Batch
	// Aborted is the entry that the index of aborted transactions needs beside this batch, which is the marker of the abort. Nil for none: nothing of the
	// transaction is left, or the batch is no such marker. Entries that are not returned are dropped with their transaction.
	Aborted *Aborted
}

// Stats are counts of one [Plan.Filter] pass (Kafka's CleanerStats).
type Stats struct {
	// Keys is how many keys the survey remembered.
	Keys                     int64
	BatchesRead, BatchesKept int64
	BytesRead, BytesKept     int64
	RecordsRead, RecordsKept int64 // of the batches that had to be decoded
	// Keyless are the records without key that were dropped, as in Kafka. A compacted topic takes none, but it may not always have been one.
	Keyless int64
	// Unreadable are the batches that stay because they cannot be read, FirstUnreadable says why the first one cannot, with its offset.
	Unreadable      int64
	FirstUnreadable error
}
