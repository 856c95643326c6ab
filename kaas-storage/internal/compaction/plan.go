package compaction

import (
	"fmt"
	"math"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Plan is one compaction of one partition.
type Plan struct {
	scope Scope
	keys  *OffsetMap
	next  int64 // first offset that the survey did not reach
	full  bool

	surveyed, filtered pass
	reader             batch.RecordReader
	stays              []bool // of the records of one batch
	records            []byte // those that stay, encoded
	stats              Stats
}

// pass is what one walk over the log remembers.
type pass struct {
	last         int64 // offset of the last batch
	transactions transactions
}

// NewPlan begins a compaction. The scope's map must not change during it.
func NewPlan(scope Scope) *Plan {
	sorted := sortAborted(scope.Aborted)
	return &Plan{
		scope:    scope,
		keys:     NewOffsetMap(scope.MapBytes),
		next:     scope.End,
		surveyed: pass{last: -1, transactions: newTransactions(sorted)},
		filtered: pass{last: -1, transactions: newTransactions(sorted)},
	}
}

// NextDirty is where the next compaction's survey begins: Scope.End, or the offset that found no room.
func (p *Plan) NextDirty() int64 { return p.next }

// Stats returns what was counted so far.
func (p *Plan) Stats() Stats {
	p.stats.Keys = int64(p.keys.Len())
	return p.stats
}

// follow refuses a batch that does not lie behind the one before it.
func (w *pass) follow(b batch.Batch) error {
	if b.BaseOffset() <= w.last || b.LastOffsetDelta() < 0 || b.BaseOffset() > math.MaxInt64-int64(b.LastOffsetDelta()) {
		return fmt.Errorf("compact batch of offsets %d to %d behind %d: %w", b.BaseOffset(), b.LastOffset(), w.last, ErrOrder)
	}
	w.last = b.LastOffset()
	return nil
}

// read places the plan's reader before the first record of a batch.
func (p *Plan) read(b batch.Batch) error {
	return p.reader.Reset(b, p.scope.Tripwires, batch.SiteCompaction, p.scope.Limit)
}

// inOrder refuses records that are not where a batch may have them. Who only looks at headers, as Produce does, lets them into a log, and one that claimed an
// offset far ahead would be the newest of its key for ever.
func inOrder(b batch.Batch, record batch.Record, previous int32) error {
	if record.OffsetDelta <= previous || record.OffsetDelta > b.LastOffsetDelta() {
		return fmt.Errorf("record with offset delta %d behind %d, the last is %d: %w", record.OffsetDelta, previous, b.LastOffsetDelta(), batch.ErrMalformed)
	}
	return nil
}
