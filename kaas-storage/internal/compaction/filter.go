package compaction

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Filter decides about one batch, after the survey. Batches come in offset order from the first of the log on; those at or above [Plan.NextDirty] may
// follow (a file is replaced as a whole) and stay as they are. dst is memory for the result's bytes, used from its start if its capacity is enough, and may
// be nil; see [Result.Batch].
//
// A batch that cannot be read stays as it is, and the compaction goes on (Kafka's cleaner gives the partition up and the log grows for ever;
// neither the other keys nor the disk have done anything to deserve it, and what cannot be read must not be thrown away). [Stats] counts it.
//
// The error is [ErrOrder], which ends the compaction.
func (p *Plan) Filter(b batch.Batch, dst []byte) (Result, error) {
	if err := p.filtered.follow(b); err != nil {
		return Result{}, err
	}
	p.stats.BatchesRead++
	p.stats.BytesRead += int64(len(b))
	result := p.decide(b, dst)
	if result.Fate != Dropped {
		p.stats.BatchesKept++
		p.stats.BytesKept += int64(len(result.Batch))
	}
	return result, nil
}

func (p *Plan) decide(b batch.Batch, dst []byte) Result {
	switch {
	case b.BaseOffset() >= p.next:
		return p.untouched(b)
	case !b.ValidCRC():
		return p.unreadable(p.untouched(b), batch.ErrCorrupt)
	case b.Control():
		return p.control(b, dst)
	}
	return p.data(b, dst)
}

// untouched is the decision about a batch that was not surveyed. It counts for its transaction, and the entry of an abort stays whatever is left of it.
func (p *Plan) untouched(b batch.Batch) Result {
	if !b.Control() {
		p.filtered.transactions.data(b)
		return unchanged(b)
	}
	end, _ := p.filtered.transactions.control(b, p.scope.Tripwires)
	return Result{Fate: Unchanged, Batch: b, Aborted: end.aborted}
}

// control is the decision about a control batch. A marker whose transaction has no batch left gets a delete horizon, so that a reader who has seen some of
// the transaction still sees its end, and goes when that has passed.
func (p *Plan) control(b batch.Batch, dst []byte) Result {
	end, err := p.filtered.transactions.control(b, p.scope.Tripwires)
	if err != nil {
		return p.unreadable(Result{Fate: Unchanged, Batch: b, Aborted: end.aborted}, err)
	}
	horizon, has := b.DeleteHorizon()
	switch {
	case end.seen:
		return Result{Fate: Unchanged, Batch: b, Aborted: end.aborted}
	case !end.spent:
		return unchanged(b)
	case b.Count() == 0, has && horizon <= p.scope.Now:
		return p.withoutRecords(b, dst)
	case has:
		return unchanged(b)
	}
	verdict, err := p.judge(b)
	if err != nil {
		return p.unreadable(unchanged(b), err)
	}
	return p.rebuild(b, dst, verdict)
}

// data is the decision about any other batch.
func (p *Plan) data(b batch.Batch, dst []byte) Result {
	if p.filtered.transactions.data(b) || b.Count() == 0 {
		return p.withoutRecords(b, dst)
	}
	verdict, err := p.judge(b)
	if err != nil {
		return p.unreadable(unchanged(b), err)
	}
	p.stats.RecordsRead += int64(b.Count())
	p.stats.RecordsKept += int64(verdict.stay)
	p.stats.Keyless += verdict.keyless
	switch {
	case verdict.stay == 0:
		return p.withoutRecords(b, dst)
	case verdict.stay == b.Count() && !verdict.undated:
		return unchanged(b)
	}
	return p.rebuild(b, dst, verdict)
}

func unchanged(b batch.Batch) Result { return Result{Fate: Unchanged, Batch: b} }

// unreadable counts a batch that stays because nobody can say what is in it.
func (p *Plan) unreadable(stays Result, cause error) Result {
	p.stats.Unreadable++
	if p.stats.FirstUnreadable == nil {
		p.stats.FirstUnreadable = fmt.Errorf("read batch at offset %d: %w", stays.Batch.BaseOffset(), cause)
	}
	return stays
}

// withoutRecords keeps the header of a batch that is the last word of its producer.
func (p *Plan) withoutRecords(b batch.Batch, dst []byte) Result {
	switch {
	case !p.lastOfProducer(b):
		return Result{Fate: Dropped}
	case b.Count() == 0 && len(b) == batch.HeaderSize:
		return unchanged(b)
	}
	return Result{Fate: Emptied, Batch: b.Emptied(dst)}
}

// lastOfProducer says whether the batch holds the last sequence of a producer that the partition remembers, or, of one without data in its epoch, the epoch.
func (p *Plan) lastOfProducer(b batch.Batch) bool {
	if b.ProducerID() < 0 {
		return false
	}
	producer, known := p.scope.Producers[b.ProducerID()]
	if !known {
		return false
	}
	if producer.LastOffset >= 0 {
		return b.LastOffset() == producer.LastOffset
	}
	return b.Control() && b.ProducerEpoch() == producer.Epoch
}
