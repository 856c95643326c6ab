package compaction

import "github.com/kaas-rs/kaas/kaas-codec/batch"

// Plan is one compaction of one partition.
type Plan struct {
	scope Scope
	keys  *OffsetMap
	next  int64 // first offset that the survey did not reach
	stats Stats
}

// NewPlan begins a compaction. The scope's slice and map must not change during it.
func NewPlan(scope Scope) *Plan {
	return &Plan{scope: scope, keys: NewOffsetMap(scope.MapBytes), next: scope.End}
}

// Survey remembers the newest offset of each key in a batch. Batches come in offset order, from the one that holds Scope.FirstDirty to the
// last below Scope.End. full says that the map had no room for a record of this batch: survey no more; [Plan.NextDirty] is then that record's offset, and
// everything from there on stays as it is. At least one new key finds room, so that each compaction makes progress.
//
// A batch that cannot be read (its CRC, codec or records are wrong, or it is above the limit) is skipped: its keys are not remembered, so nothing goes on its account.
//
// The error is [ErrOrder], which ends the compaction.
//
// Not filled yet: it remembers nothing.
func (p *Plan) Survey(b batch.Batch) (full bool, err error) { return false, nil }

// NextDirty is where the next compaction's survey begins: Scope.End, or the offset that found no room.
func (p *Plan) NextDirty() int64 { return p.next }

// Filter decides about one batch, after the survey. Batches come in offset order from the first of the log on; those at or above [Plan.NextDirty] may
// follow (a file is replaced as a whole) and stay as they are. dst is memory for the result's bytes, used from its start if its capacity is enough, and may
// be nil; see [Result.Batch].
//
// A batch that cannot be read stays as it is, and the compaction goes on (Kafka's cleaner gives the partition up and the log grows for ever;
// neither the other keys nor the disk have done anything to deserve it, and what cannot be read must not be thrown away). [Stats] counts it.
//
// The error is [ErrOrder], which ends the compaction.
//
// Not filled yet: everything stays.
func (p *Plan) Filter(b batch.Batch, dst []byte) (Result, error) {
	return Result{Fate: Unchanged, Batch: b}, nil
}

// Stats returns what was counted so far.
func (p *Plan) Stats() Stats { return p.stats }
