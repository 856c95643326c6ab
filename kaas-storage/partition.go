package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Partition is one log, led by this process at one epoch. It ends when another owner takes over, when a file operation fails or takes
// too long, or when it is closed; a new leadership is a new Partition. All methods are safe for concurrent use.
//
// Lock order: maintenance, then mu, then the locks inside segments. mu is never held across a file operation; maintenance is, and
// therefore a channel: whoever waits for it stops waiting with its context, or when the leadership ends.
type Partition struct {
	engine *Engine
	volume *Volume
	dir    *partitionDir
	label  string
	log    zerolog.Logger
	claim  *claim
	checks checkGate
	onEnd  func(error)

	// Readers use these without a lock.
	config    atomic.Pointer[Config]
	segments  atomic.Pointer[[]*segment] // ascending by base, copied on change but for a segment more at the end
	logStart  atomic.Int64
	watermark atomic.Int64 // durable and fenced; behind the last record that anybody may see
	logEnd    atomic.Int64 // written under mu

	mu           sync.Mutex
	err          error         // why the leadership ended
	ended        chan struct{} // closed with err
	handover     bool          // no further appends
	active       *segment      // nil: the next append begins a segment
	producers    producerTable
	transactions *transactions
	unverified   map[int64]unverified // by producer
	epochs       leaderEpochs
	groups       []*commitGroup // queued, the first may be under way
	committing   bool
	committer    func()   // runs commitQueued
	commitWatch  watchdog // of the committer
	lastWritten  *segment // the committer's own
	unsynced     unsynced
	synced       int64 // behind the last record that is synced and checked
	syncWaits    []syncWait
	lastOwn      ownEnd
	dirty        dirtyBytes
	watchers     map[chan<- struct{}]struct{}
	tidying      bool     // idle files are being closed
	retaining    bool     // a retention pass is under way
	discarded    []string // files to be unlinked
	removing     bool     // that is under way
	generation   uint32   // of the last compaction that began
	unreadable   int64    // batches that the last compaction could not read; its own
	forgetful    bool     // it has been said that producers are forgotten

	cleaned   atomic.Int64 // up to where compaction has seen every key; written with maintenance
	lingering atomic.Int64 // files that compaction has replaced and somebody still reads

	// maintenance serializes who writes the manifest: recovery point, removal, handover. It holds one token while somebody does.
	maintenance chan struct{}
	manifest    *manifest

	work   sync.WaitGroup // committer and maintenance
	closed chan struct{}  // every handle is closed, but for sections that are still being sent
}

// ownEnd is the last segment of the own epoch that has a batch, for the manifest's recovery position.
type ownEnd struct {
	segment *segment
	size    int64
}

// dirtyBytes counts what was appended since the recovery point moved.
type dirtyBytes struct {
	bytes        int64
	limit        int64
	last         time.Time // of the last append
	checkpointed bool      // a checkpoint is under way
}

// Offsets is a view of a log's bounds. LogStart <= LastStable <= HighWatermark <= LogEnd.
type Offsets struct {
	LogStart      int64 // first offset that can be read
	LastStable    int64 // behind the last record that read_committed may see: no transaction below it is undecided
	HighWatermark int64 // behind the last record that is acknowledged and may be seen
	LogEnd        int64 // behind the last record that was appended
}

// newPartition opens for service what a takeover produced.
func newPartition(e *Engine, dir *partitionDir, o TakeOptions, t *takeover) *Partition {
	p := &Partition{
		engine: e,
		volume: o.Volume,
		dir:    dir,
		label:  o.Label,
		log:    e.options.Logger.With().Str("partition", o.Label).Int32("epoch", int32(t.claim.epoch)).Logger(),
		claim:  t.claim,
		onEnd:  o.Ended,
		ended:  make(chan struct{}),
		closed: make(chan struct{}),

		maintenance:  make(chan struct{}, 1),
		producers:    t.tail.producers,
		transactions: t.tail.transactions,
		epochs:       t.tail.epochs,
		synced:       t.tail.end,
		unverified:   make(map[int64]unverified),
		watchers:     make(map[chan<- struct{}]struct{}),
		manifest:     t.manifest,
	}
	p.commitWatch = watchdog{deadline: e.options.IODeadline, expired: func() {
		p.fail(fmt.Errorf("commit of %s: %w", p.label, ErrStalled))
	}}
	p.committer = func() {
		defer p.work.Done()
		p.commitQueued()
	}
	p.config.Store(&o.Config)
	p.segments.Store(&t.segments)
	p.logStart.Store(t.manifest.LogStart)
	p.logEnd.Store(t.tail.end)
	p.watermark.Store(t.tail.end)
	p.dirty.limit = checkpointBytes
	if s := t.tail.last(); s != nil {
		p.active = s
		p.lastOwn = ownEnd{s, s.size}
		p.dirty = dirtyBytes{bytes: t.tail.size(), limit: checkpointBytes, last: time.Now()}
	}
	p.cleaned.Store(t.manifest.Cleaned)
	dir.fenced = p.fail
	return p
}

// Label is the name given at the takeover, for messages.
func (p *Partition) Label() string { return p.label }

// Epoch is this leadership's epoch, which it writes into the batches that it appends.
func (p *Partition) Epoch() Epoch { return p.claim.epoch }

// Done is closed when this leadership ends; Err then says why. Reads below the watermark go on until Abandon or Handover.
func (p *Partition) Done() <-chan struct{} { return p.ended }

// Closed is closed once Abandon or Handover has closed every file, those of sections that are still being sent excepted.
func (p *Partition) Closed() <-chan struct{} { return p.closed }

// Err returns nil while the partition is led here, else why not: it wraps ErrFenced, ErrStalled, ErrStorageFull, ErrClosed or is a *StorageError.
func (p *Partition) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Offsets returns the log's bounds without taking a lock.
func (p *Partition) Offsets() Offsets {
	start := p.logStart.Load()
	high := max(p.watermark.Load(), start)
	stable := max(min(high, p.transactions.firstUnstable()), start)
	return Offsets{LogStart: start, LastStable: stable, HighWatermark: high, LogEnd: max(p.logEnd.Load(), high)}
}

// Config returns the configuration in force.
func (p *Partition) Config() Config { return *p.config.Load() }

// SetConfig puts another configuration in force, for appends from now on and for the next retention pass.
func (p *Partition) SetConfig(c Config) { p.config.Store(&c) }

// Size is the bytes of all segments that hold records, as far as readers may see them.
func (p *Partition) Size() int64 {
	var size int64
	for _, s := range *p.segments.Load() {
		size += s.committed.Load()
	}
	return size
}

// Producers lists the idempotent producers that have state here, in order of their ids.
func (p *Partition) Producers() []ProducerState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.producers.states()
}

// Producer returns the state of one of them; found is false when it has none here.
func (p *Partition) Producer(id int64) (state ProducerState, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.producers[id]
	if known == nil {
		return ProducerState{}, false
	}
	return known.state(), true
}

// EpochForOffset returns the leader epoch under which the record at offset was appended, NoEpoch when it is unknown.
func (p *Partition) EpochForOffset(offset int64) Epoch {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.epochs.holder(offset)
}

// OffsetForLeaderEpoch answers Kafka's OffsetForLeaderEpoch (KIP-101, KIP-279): the largest known epoch that is not above the asked one, and the
// offset behind its last record. (NoEpoch, -1) means unknown. The end of the current epoch is the high watermark.
func (p *Partition) OffsetForLeaderEpoch(asked Epoch) (Epoch, int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	epoch, end := p.epochs.end(asked, p.claim.epoch, p.watermark.Load())
	return epoch, end
}

// Watch sends to ch, without blocking, whenever the watermark moves and when the leadership ends. Give ch a buffer of one. stop ends it.
func (p *Partition) Watch(ch chan<- struct{}) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers[ch] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, ch)
	}
}

func (p *Partition) notifyLocked() {
	for ch := range p.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// fail ends the leadership: everybody who waits gets err, and nothing more is appended or acknowledged at this epoch.
// Nothing is retried: after a failed sync a second one may lie.
func (p *Partition) fail(err error) {
	full := isFull(err)
	if full {
		err = fmt.Errorf("%w: %w", ErrStorageFull, err)
	}
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = err
		close(p.ended)
		for _, g := range p.groups {
			g.finish(err)
		}
		p.groups = nil
		if p.unsynced.timer != nil {
			p.unsynced.timer.Stop()
		}
		p.finishSyncWaitsLocked(err)
		p.notifyLocked()
	}
	p.mu.Unlock()
	if !first {
		return
	}
	if !errors.Is(err, ErrClosed) {
		p.engine.metrics.ended.Add(p.engine.ctx, 1)
		p.log.Error().Err(err).Msg("leadership of partition ended")
	}
	if full {
		if err := p.volume.noteFull(); err != nil {
			p.log.Error().Err(err).Msg("reserve of full volume could not be given up")
		}
	}
	if p.onEnd != nil && !errors.Is(err, ErrClosed) {
		p.onEnd(err)
	}
}

// Abandon ends the leadership and closes everything without writing anything: for a partition that is fenced, failed, or being deleted.
// The claim's name stays: the next taker removes it.
func (p *Partition) Abandon() {
	p.fail(fmt.Errorf("%s: %w", p.label, ErrClosed))
	p.engine.dispose(p)
}

// Handover ends the leadership in good order, so that the next taker has nothing to scan or copy: it commits what was appended, moves
// the recovery point to the end, removes its claim and closes. After an error the partition is abandoned, which is as safe, only slower.
func (p *Partition) Handover(ctx context.Context) error {
	p.mu.Lock()
	p.handover = true
	p.mu.Unlock()
	err := p.handOver(ctx)
	p.Abandon()
	return err
}

func (p *Partition) handOver(ctx context.Context) error {
	err := p.maintain(ctx, func() error {
		if p.behindRecoveryPoint() {
			return p.checkpoint(ctx, func(*manifest) {})
		}
		return p.Err()
	})
	if err != nil {
		return fmt.Errorf("hand over %s: %w", p.label, err)
	}
	// The leadership ends before its claim goes: a check that finds it gone must not take the handover for a fence.
	p.fail(fmt.Errorf("%s: %w", p.label, ErrClosed))
	if err := p.Err(); !errors.Is(err, ErrClosed) {
		return fmt.Errorf("hand over %s: %w", p.label, err)
	}
	// The manifest keeps this epoch's name in the directory, so removing the claim cannot free the epoch for another.
	return p.engine.blocking(ctx, p.volume, p.claim.release)
}

// maintain runs f, which may write the manifest, when nobody else does. When ctx or the leadership ends first, f is not begun or goes on
// by itself.
func (p *Partition) maintain(ctx context.Context, f func() error) error {
	if err := p.lockMaintenance(ctx); err != nil {
		return err
	}
	result := make(chan error, 1)
	p.mu.Lock()
	if err := p.err; err != nil {
		p.mu.Unlock()
		p.unlockMaintenance()
		return err
	}
	p.work.Go(func() {
		defer p.unlockMaintenance()
		result <- f()
	})
	p.mu.Unlock()
	select {
	case err := <-result:
		return err
	case <-p.ended:
		return p.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Partition) lockMaintenance(ctx context.Context) error {
	select {
	case p.maintenance <- struct{}{}:
		return nil
	case <-p.ended:
		return p.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *Partition) unlockMaintenance() { <-p.maintenance }

// behindRecoveryPoint reports whether the manifest lacks anything that was appended or removed. The caller holds maintenance.
func (p *Partition) behindRecoveryPoint() bool {
	return p.manifest.RecoveryPoint < p.logEnd.Load()
}

// close releases every handle. Sections that are still being sent keep their file open until they are released.
func (p *Partition) close() {
	p.work.Wait()
	for _, s := range *p.segments.Load() {
		s.close()
	}
	p.claim.close()
	_ = p.dir.Close()
	close(p.closed)
}

// addSegment makes a new own segment visible and active. The caller holds mu.
func (p *Partition) addSegmentLocked() {
	s := newSegment(p.dir, p.logEnd.Load(), p.claim.epoch, fileMissing)
	s.created = time.Now()
	segments := append(*p.segments.Load(), s) // in place: who has the list does not see beyond its end
	p.segments.Store(&segments)
	p.active = s
}
