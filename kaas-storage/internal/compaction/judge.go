package compaction

import (
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// verdict is what [Plan.judge] found in the records of one batch; which of them stay is in Plan.stays.
type verdict struct {
	stay    int32
	undated bool  // a deletion or a marker stays that has no delete horizon yet
	keyless int64 // dropped for want of a key
	first   int64 // timestamp of the first record that stays
	largest int64 // timestamp among those that stay
}

// judge reads the records of a batch and marks which stay: all of a control batch. A batch of which the survey saw only the beginning gets no horizon yet, other than in
// Kafka: what a deletion deletes goes when the deletion is surveyed, and readers have the whole time from then on.
func (p *Plan) judge(b batch.Batch) (verdict, error) {
	v := verdict{largest: batch.NoTimestamp}
	if err := p.read(b); err != nil {
		return v, err
	}
	horizon, has := b.DeleteHorizon()
	date := !has && b.LastOffset() < p.next
	expired := has && horizon <= p.scope.Now
	p.stays = p.stays[:0]
	previous := int32(-1)
	for p.reader.Next() {
		record := p.reader.Record()
		if err := inOrder(b, record, previous); err != nil {
			return v, err
		}
		previous = record.OffsetDelta
		stays := b.Control() || p.recordStays(b.BaseOffset()+int64(record.OffsetDelta), record, expired, &v)
		p.stays = append(p.stays, stays)
		if stays {
			v.add(timestamp(b, record))
			v.undated = v.undated || date && (record.Value == nil || b.Control())
		}
	}
	return v, p.reader.Err()
}

func (v *verdict) add(timestamp int64) {
	if v.stay == 0 {
		v.first = timestamp
	}
	v.stay++
	v.largest = max(v.largest, timestamp)
}

// recordStays is the rule of compaction: the newest of its key stays, and a deletion until its horizon.
func (p *Plan) recordStays(offset int64, record batch.Record, expired bool, v *verdict) bool {
	if offset >= p.next {
		return true
	}
	if record.Key == nil {
		v.keyless++
		return false
	}
	if newest, known := p.keys.Newest(record.Key); known && offset < newest {
		return false
	}
	return record.Value != nil || !expired
}

// timestamp returns that of a record, which with LogAppendTime is the batch's.
func timestamp(b batch.Batch, record batch.Record) int64 {
	if b.AppendTime() {
		return b.MaxTimestamp()
	}
	return b.BaseTimestamp() + record.TimestampDelta
}

// rebuild makes the batch of what stays. Timestamps keep their value, counted from another base: the delete horizon, if there is one, else the first of
// them, as in Kafka. A batch that cannot be encoded stays as it is.
func (p *Plan) rebuild(b batch.Batch, dst []byte, v verdict) Result {
	remainder := batch.Remainder{Count: v.stay, BaseTimestamp: v.first, MaxTimestamp: v.largest}
	if horizon, has := b.DeleteHorizon(); has {
		remainder.BaseTimestamp, remainder.DeleteHorizon = horizon, true
	} else if v.undated {
		remainder.BaseTimestamp, remainder.DeleteHorizon = p.scope.Now+p.scope.DeleteRetention.Milliseconds(), true
	}
	if b.AppendTime() {
		remainder.MaxTimestamp = b.MaxTimestamp()
	}
	p.records = p.records[:0]
	p.reader.Rewind()
	for i := 0; p.reader.Next(); i++ {
		if p.stays[i] {
			p.records = p.reader.AppendRecord(p.records, timestamp(b, p.reader.Record())-remainder.BaseTimestamp)
		}
	}
	remainder.Records = p.records
	rebuilt, err := b.WithRemainder(dst, remainder, p.scope.Tripwires, batch.SiteCompaction)
	if err != nil {
		return p.unreadable(unchanged(b), err)
	}
	return Result{Fate: Rebuilt, Batch: rebuilt}
}
