package slot

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Config is how a slot's partition is to be taken over: every commit is durable, and only trimming removes records.
func Config() storage.Config {
	c := storage.DefaultConfig()
	c.FlushMessages = 1
	c.SegmentBytes = 16 << 20
	c.RetentionAge = -1
	c.RetentionBytes = -1
	c.Delete = true
	return c
}

// Record is one change. In what is read back, Value is valid only during the call that gives it.
type Record struct {
	Key   Key
	Value []byte // JSON that begins with its version; nil removes the key
}

// Options configure a slot. The zero value works.
type Options struct {
	Logger    zerolog.Logger
	Tripwires *batch.Tripwires // counts where records are decoded; nil: not counted
	// TrimBytes is the size of the log, in bytes, below which it is never trimmed; 0 means 1 MiB.
	TrimBytes int64
}

// Slot is one slot that this process leads. See the package for its lock.
type Slot struct {
	partition *storage.Partition
	log       zerolog.Logger
	tripwires *batch.Tripwires
	trimBytes int64
	trimming  sync.Mutex // one at a time; taken before mu

	mu     sync.Mutex
	last   storage.Ticket // of the latest append
	live   ledger
	closed bool
	buffer []byte // for encoding keys
	batch  *batch.Builder

	cancel context.CancelCauseFunc
	ctx    context.Context // ends the background work; set by Open, ended by Close
	work   sync.WaitGroup
	grown  chan struct{} // wakes trimming
}

// Open replays the partition and gives apply each record with its offset, in order. When apply fails or a record cannot be understood, the slot is not
// opened. The partition stays the caller's, also after Close. ctx bounds the replay.
//
// Errors: those of apply, *VersionError, ErrCorrupt, and those of storage.Partition.Read.
func Open(ctx context.Context, p *storage.Partition, apply func(Record, int64) error, o Options) (*Slot, error) {
	s := &Slot{
		partition: p,
		log:       o.Logger,
		tripwires: o.Tripwires,
		trimBytes: o.TrimBytes,
		live:      newLedger(),
		batch:     batch.NewBuilder(),
		grown:     make(chan struct{}, 1),
	}
	if s.trimBytes <= 0 {
		s.trimBytes = 1 << 20
	}
	if err := s.replay(ctx, apply); err != nil {
		return nil, fmt.Errorf("replay %s: %w", p.Label(), err)
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.work.Go(s.trimWhenGrown)
	s.noteGrowthLocked() // nobody else has the slot yet
	return s, nil
}

// Lock takes the slot's lock: nobody else appends or changes what the slot's records stand for. Nothing that blocks may be done under it.
func (s *Slot) Lock() { s.mu.Lock() }

// Unlock releases the slot's lock.
func (s *Slot) Unlock() { s.mu.Unlock() }

// Append appends the records as one batch: after a crash either all of them are there or none. It never waits. The caller holds the slot's
// lock and makes the change in memory under the same hold, after Append succeeded. Nothing is kept of the records' values.
//
// Errors: ErrClosed, storage.ErrStorageFull (the slot goes on), or why the leadership ended; nothing was appended then.
func (s *Slot) Append(records ...Record) (Pending, error) {
	if s.closed {
		return Pending{}, ErrClosed
	}
	if len(records) == 0 {
		return s.Barrier(), nil
	}
	b, err := s.build(records)
	if err != nil {
		return Pending{}, err
	}
	ticket, err := s.partition.Append(b, storage.AppendOptions{})
	if err != nil {
		return Pending{}, fmt.Errorf("append to %s: %w", s.partition.Label(), err)
	}
	s.last = ticket
	s.live.appended(records, ticket.Result().BaseOffset, int64(len(b)))
	s.noteGrowthLocked()
	return Pending{partition: s.partition, ticket: ticket}, nil
}

// PieceBytes is about how much one batch of many records may hold: an id of 32 KiB in each of a hundred thousand keys would be a batch of gigabytes.
const PieceBytes = 1 << 20

// Pieces splits records into what one batch may hold. Whoever appends one changes the memory before the next: any of them may fail.
func Pieces(records []Record) iter.Seq[[]Record] {
	return func(yield func([]Record) bool) {
		for len(records) > 0 {
			count, size := 0, 0
			for ; count < len(records) && size < PieceBytes; count++ {
				size += int(recordBytes(records[count]))
			}
			if !yield(records[:count]) {
				return
			}
			records = records[count:]
		}
	}
}

func (s *Slot) build(records []Record) (batch.Batch, error) {
	now := time.Now().UnixMilli()
	for _, r := range records {
		s.buffer = r.Key.appendJSON(s.buffer[:0])
		s.batch.Add(now, s.buffer, r.Value)
	}
	b, err := s.batch.Build()
	s.batch.Reset()
	if err != nil {
		return nil, fmt.Errorf("build batch: %w", err)
	}
	return b, nil
}

// Next is the offset that the first record of the next append gets. The caller holds the slot's lock.
func (s *Slot) Next() int64 { return s.partition.Offsets().LogEnd }

// Barrier stands for everything appended so far: what an answer without an append has to wait for. The caller holds the slot's lock.
func (s *Slot) Barrier() Pending { return Pending{partition: s.partition, ticket: s.last} }

// Confirm returns nil when a check of the claim that began at or after notBefore succeeded: until then nobody else owned the slot.
// Answers that rest on no append need it beside their Barrier.
func (s *Slot) Confirm(ctx context.Context, notBefore time.Time) error {
	return s.partition.Confirm(ctx, notBefore)
}

// Done is closed when the leadership of the partition ends; Err then says why.
func (s *Slot) Done() <-chan struct{} { return s.partition.Done() }

// Err returns nil while the partition is led here.
func (s *Slot) Err() error { return s.partition.Err() }

// Close ends the slot and waits for its background work. The partition is left as it is.
func (s *Slot) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel(ErrClosed)
	s.work.Wait()
}

// Pending tells when appends are durable. The zero value is.
type Pending struct {
	partition *storage.Partition
	ticket    storage.Ticket
}

// Wait returns nil once the appends are on the disk and were still owned there. The end of ctx ends the wait, not the append. An error that is not
// ctx's means that the leadership ended: whether the append will be found by the next leader is unknown.
func (p Pending) Wait(ctx context.Context) error {
	if p.partition == nil {
		return nil
	}
	return p.ticket.WaitDurable(ctx)
}
