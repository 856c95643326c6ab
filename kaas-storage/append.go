package storage

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// AppendResult says where a batch went.
type AppendResult struct {
	BaseOffset     int64
	LastOffset     int64
	LogStartOffset int64
	AppendTime     int64 // ms since 1970 when the log stamps batches, else -1; of a duplicate its largest timestamp, as Kafka answers
	Duplicate      bool  // a retry of a batch that is in the log already: BaseOffset is the original's
}

// Ticket stands for an append whose bytes are on their way to the disk.
type Ticket struct {
	result AppendResult
	group  *commitGroup // nil when the original of a duplicate is durable already
}

// Result is known at once. It means nothing to a client before WaitWritten or WaitDurable succeeded.
func (t Ticket) Result() AppendResult { return t.result }

// WaitWritten waits until the batch is written, not synced (acks=1). The end of ctx ends the wait, never the append.
func (t Ticket) WaitWritten(ctx context.Context) error {
	if t.group == nil {
		return nil
	}
	return t.group.written.wait(ctx)
}

// WaitDurable waits until the high watermark has passed the batch: with FlushMessages 1 it is then synced and the fence check behind it
// succeeded (acks=all). The end of ctx ends the wait, never the append: the batch may still become durable.
func (t Ticket) WaitDurable(ctx context.Context) error {
	if t.group == nil {
		return nil
	}
	return t.group.durable.wait(ctx)
}

// Written is closed when WaitWritten would return at once; nil when it would already. For those who wait for something else beside it.
func (t Ticket) Written() <-chan struct{} {
	if t.group == nil {
		return nil
	}
	return t.group.written.pending()
}

// Durable is the same for WaitDurable.
func (t Ticket) Durable() <-chan struct{} {
	if t.group == nil {
		return nil
	}
	return t.group.durable.pending()
}

// AppendOptions tell kinds of appends apart. The zero value is a client's batch.
type AppendOptions struct {
	// Verified says that the transaction of a transactional batch was confirmed by its coordinator, see Partition.Verify. A batch needs it while
	// no transaction of its producer and epoch is open here, unless Config.VerifyTransactions is off.
	Verified Verification
	// Sync asks for a sync even where FlushMessages would allow to wait, as transaction markers do.
	Sync bool
}

// recordTimestamp is the largest timestamp that a lookup may find in the batch: a marker's is not a record's, and compaction may have left no record.
func recordTimestamp(b batch.Batch) int64 {
	if b.Control() || b.Count() == 0 {
		return batch.NoTimestamp
	}
	return b.MaxTimestamp()
}

// Append assigns offsets to a valid batch in order of arrival and queues it. It never waits for a file operation.
// It sets the batch's base offset and leader epoch, and its timestamps where the log stamps them. Its bytes may be used again once
// WaitWritten has returned nil; after an error a write that hangs may still read them, so they are left to the garbage collector.
//
// Errors: ErrOutOfOrderSequence and ErrProducerEpoch for idempotent producers, ErrInvalidTransaction for a transactional batch that is not
// verified and for one outside of its producer's open transaction, ErrStorageFull, or why the leadership ended.
func (p *Partition) Append(b batch.Batch, o AppendOptions) (Ticket, error) {
	config := p.config.Load()
	now := time.Now()
	marker, err := markerOf(b)
	if err != nil {
		return Ticket{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.mayAppendLocked(int64(len(b))); err != nil {
		return Ticket{}, err
	}
	original, err := p.producers.classify(b)
	if original != nil {
		return p.duplicateLocked(*original), nil
	}
	if err := p.mayJoinLocked(b, o.Verified, config, err); err != nil {
		return Ticket{}, err
	}
	return p.addLocked(b, marker, config, o, now), nil
}

// addLocked queues a batch that is accepted. marker is the content of one that ends a transaction.
func (p *Partition) addLocked(b batch.Batch, marker *batch.Marker, config *Config, o AppendOptions, now time.Time) Ticket {
	result := p.stampLocked(b, config, now)
	p.rollLocked(b, config, now)
	group := p.enqueueLocked(b, config, o)
	if len(p.unverified) > 0 {
		delete(p.unverified, b.ProducerID())
	}
	if aborted, is := p.transactions.note(p.producers, b, marker, now.UnixMilli()); is {
		p.active.aborted.add(aborted)
	}
	p.epochs = p.epochs.note(p.claim.epoch, result.BaseOffset)
	p.logEnd.Store(result.LastOffset + 1)
	p.dirty.last = now
	p.startCommitterLocked()
	return Ticket{result: result, group: group}
}

func (p *Partition) mayAppendLocked(size int64) error {
	switch {
	case p.err != nil:
		return p.err
	case p.handover:
		return ErrClosed
	case !p.volume.admit(size):
		return ErrStorageFull
	}
	return nil
}

// duplicateLocked answers a retry with its original's offsets. It must wait for the original's commit: until then the original may still be lost.
func (p *Partition) duplicateLocked(m batchMark) Ticket {
	t := Ticket{result: AppendResult{
		BaseOffset: m.BaseOffset, LastOffset: m.LastOffset, LogStartOffset: p.logStart.Load(), AppendTime: m.Timestamp, Duplicate: true,
	}}
	for _, g := range p.groups {
		if m.LastOffset < g.end {
			t.group = g
			break
		}
	}
	return t
}

// stampLocked writes what the leader decides into the batch's header, all of it outside the checksum unless the log stamps the time.
func (p *Partition) stampLocked(b batch.Batch, config *Config, now time.Time) AppendResult {
	b.SetBaseOffset(p.logEnd.Load())
	b.SetLeaderEpoch(int32(p.claim.epoch))
	result := AppendResult{BaseOffset: b.BaseOffset(), LastOffset: b.LastOffset(), LogStartOffset: p.logStart.Load(), AppendTime: -1}
	if config.AppendTime {
		result.AppendTime = now.UnixMilli()
		b.StampAppendTime(result.AppendTime)
	}
	return result
}

// rollLocked begins a new segment where the active one is full or old.
func (p *Partition) rollLocked(b batch.Batch, config *Config, now time.Time) {
	s := p.active
	if s == nil || !s.fits(int64(len(b)), b.LastOffset(), config.SegmentBytes) || (s.size > 0 && now.Sub(s.created) >= config.SegmentAge) {
		p.addSegmentLocked()
	}
}

// enqueueLocked adds the batch to the last commit group, or begins one: a group is one vectored write into one segment.
func (p *Partition) enqueueLocked(b batch.Batch, config *Config, o AppendOptions) *commitGroup {
	s := p.active
	size := int64(len(b))
	g := p.openGroupLocked(s, size)
	g.buffers = append(g.buffers, b)
	g.bytes += size
	g.records += int64(b.Count())
	g.end = b.LastOffset() + 1
	g.sync = g.sync || o.Sync
	s.index.add(offsetEntry{uint32(b.LastOffset() - s.base), uint32(s.size)}, recordTimestamp(b), size, config.IndexInterval)
	s.size += size
	p.lastOwn = ownEnd{s, s.size}
	p.dirty.bytes += size
	return g
}
