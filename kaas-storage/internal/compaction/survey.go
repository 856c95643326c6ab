package compaction

import "github.com/kaas-rs/kaas/kaas-codec/batch"

// Survey remembers the newest offset of each key in a batch. Batches come in offset order, from the one that holds Scope.FirstDirty to the
// last below Scope.End. full says that the map had no room for a record of this batch: survey no more; [Plan.NextDirty] is then that record's offset, and
// everything from there on stays as it is. At least one new key finds room, so that each compaction makes progress.
//
// A batch that cannot be read (its CRC, codec or records are wrong, or it is above the limit) is skipped: its keys are not remembered, so nothing goes on its account.
//
// The error is [ErrOrder], which ends the compaction.
func (p *Plan) Survey(b batch.Batch) (full bool, err error) {
	if p.full {
		return true, nil
	}
	if err := p.surveyed.follow(b); err != nil {
		return false, err
	}
	if b.Control() || p.surveyed.transactions.data(b) || b.Count() == 0 || b.LastOffset() < p.scope.FirstDirty || b.BaseOffset() >= p.scope.End {
		return false, nil
	}
	if !p.readable(b) {
		return false, nil
	}
	p.remember(b)
	return p.full, nil
}

// readable reads all records before one key is remembered: a key that only half a batch yields has its record where nobody can read it.
func (p *Plan) readable(b batch.Batch) bool {
	if !b.ValidCRC() || p.read(b) != nil {
		return false
	}
	previous := int32(-1)
	for p.reader.Next() {
		record := p.reader.Record()
		if inOrder(b, record, previous) != nil {
			return false
		}
		previous = record.OffsetDelta
	}
	return p.reader.Err() == nil
}

func (p *Plan) remember(b batch.Batch) {
	p.reader.Rewind()
	for p.reader.Next() {
		record := p.reader.Record()
		offset := b.BaseOffset() + int64(record.OffsetDelta)
		if record.Key == nil || offset < p.scope.FirstDirty || offset >= p.scope.End {
			continue
		}
		if !p.keys.Put(record.Key, offset) {
			p.next, p.full = offset, true
			return
		}
	}
}
