package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/metric"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/clock"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Options configure an engine. The zero value works: it logs and measures nothing.
type Options struct {
	Logger            zerolog.Logger
	MeterProvider     metric.MeterProvider // nil: no metrics
	Tripwires         *batch.Tripwires     // counts where records are decoded; nil: not counted
	IODeadline        time.Duration        // for one file operation; 0 means 30 s
	RetentionInterval time.Duration        // between retention passes; 0 means 5 min, negative means never
	IdleAfter         time.Duration        // without an append before files are closed; 0 means 5 s
	Clock             *clock.Clock         // by which records and producers are old; nil: one of its own
	MaxProducers      int                  // that all partitions remember together, 400 bytes each; 0 means 1,000,000. One remembers 250,000 at most

	CompactionInterval time.Duration // between passes over compacted logs; 0 means 15 s, negative means never [log.cleaner.backoff.ms]
	CompactionMemory   int           // bytes for the keys of the one compaction that runs; 0 means 16 MiB [log.cleaner.dedupe.buffer.size]
}

func (o Options) withDefaults() Options {
	if o.IODeadline <= 0 {
		o.IODeadline = 30 * time.Second
	}
	if o.RetentionInterval == 0 {
		o.RetentionInterval = 5 * time.Minute
	}
	if o.IdleAfter <= 0 {
		o.IdleAfter = 5 * time.Second
	}
	if o.CompactionInterval == 0 {
		o.CompactionInterval = 15 * time.Second
	}
	if o.CompactionMemory <= 0 {
		o.CompactionMemory = 16 << 20
	}
	if o.MaxProducers <= 0 {
		o.MaxProducers = defaultMaxProducers
	}
	if o.Clock == nil {
		o.Clock = clock.New(time.Now)
	}
	return o
}

// Engine owns what the partitions of one process share: background work and the bounds on it.
type Engine struct {
	options Options
	metrics *metrics
	ctx     context.Context // ends the background work; set by NewEngine, ended by Close
	stop    context.CancelFunc
	work    sync.WaitGroup

	compactions compactions

	mu         sync.Mutex
	closed     bool
	partitions map[*Partition]struct{}
	unnamed    *Volume // of partitions that were given none
}

// NewEngine starts the background work; Close ends it.
func NewEngine(o Options) (*Engine, error) {
	o = o.withDefaults()
	m, err := newMetrics(o.MeterProvider)
	if err != nil {
		return nil, fmt.Errorf("storage metrics: %w", err)
	}
	e := &Engine{options: o, metrics: m, partitions: make(map[*Partition]struct{}), unnamed: newVolume(nil, "", 0), compactions: newCompactions()}
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.work.Go(e.housekeep)
	return e, nil
}

// Close abandons the partitions that are still open and waits for all background work, but not longer than for one file operation:
// then it returns ErrStalled.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	open := make([]*Partition, 0, len(e.partitions))
	for p := range e.partitions {
		open = append(open, p)
	}
	e.mu.Unlock()
	for _, p := range open {
		p.Abandon()
	}
	e.stop()
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	timer := time.NewTimer(e.options.IODeadline)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("close engine: %w", ErrStalled)
	}
}

// TakeOptions describe a partition to be taken over.
type TakeOptions struct {
	Label    string // such as "topic-3", for logs and metrics
	Volume   *Volume
	MinEpoch Epoch // the new epoch is not below it: what the assignment says
	Config   Config
	// Entitled is asked once the claim is made, and before any other is removed: an error leaves the partition to its owner. A process that was told to own
	// the partition and has been replaced since must answer with one, or it would fence its successor. May be nil.
	Entitled func() error
	// Ended is called once when the leadership ends by a fence or an error, not by Abandon or Handover. It must not block. May be nil.
	Ended func(error)
}

// Take makes this process the owner of the partition in dir, whoever owned it: the old owner is fenced, its durable records are found,
// and its tail is made durable again. directory belongs to the partition afterwards and is closed with it, also on an error.
//
// Errors: ErrNoManifest, ErrDeleted, ErrMoving, ErrFutureVersion, *CorruptionError (all final until somebody acts); ErrFenced (another taker was
// faster: read the assignment again); *StorageError and what ctx says (worth a retry).
func (e *Engine) Take(ctx context.Context, directory vfs.Dir, o TakeOptions) (*Partition, error) {
	dir := newPartitionDir(directory)
	if o.Volume == nil {
		o.Volume = e.unnamed
	}
	var t *takeover
	began := time.Now()
	err := e.blocking(ctx, o.Volume, func() error {
		take := func() (err error) {
			if err = o.Volume.checkFencing(); err == nil {
				t, err = takeOver(dir, o)
			}
			return err
		}
		err := e.retryWhenFull(take(), o.Volume, take)
		if err == nil {
			dir.reopenThrough(t.claim)
		}
		return err
	}, func() {
		if t != nil {
			t.close()
		}
		_ = dir.Close()
	})
	if err != nil {
		return nil, fmt.Errorf("take over %s: %w", o.Label, err)
	}
	p := newPartition(e, dir, o, t)
	if err := e.adopt(p, t.garbage); err != nil {
		return nil, err
	}
	e.metrics.takeover(ctx, time.Since(began))
	if t.tail.ignored > 0 {
		p.log.Warn().Int64("bytes", t.tail.ignored).Int64("log_end", t.tail.end).
			Msg("bytes behind the last valid batch are no part of the log: a write that a crash cut short, or damage")
	}
	p.log.Debug().Int64("log_start", t.manifest.LogStart).Int64("log_end", t.tail.end).Dur("took", time.Since(began)).Msg("took over partition")
	return p, nil
}

// retryWhenFull gives the reserve up and tries once more where a takeover failed for want of space.
func (e *Engine) retryWhenFull(err error, v *Volume, again func() error) error {
	if err == nil || !isFull(err) || v.fs == nil {
		return err
	}
	if noted := v.noteFull(); noted != nil {
		return errors.Join(err, noted)
	}
	return again()
}

// adopt registers a partition, and begins to remove what earlier owners left.
func (e *Engine) adopt(p *Partition, garbage []string) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		p.fail(ErrClosed)
		p.close()
		return fmt.Errorf("take over %s: engine: %w", p.label, ErrClosed)
	}
	e.partitions[p] = struct{}{}
	e.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && len(garbage) > 0 {
		p.work.Go(func() { p.removeGarbage(garbage) })
	}
	return nil
}

// dispose closes an ended partition once its last file operation has returned.
func (e *Engine) dispose(p *Partition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.partitions[p]; known {
		delete(e.partitions, p)
		e.work.Go(p.close)
	}
}

// start runs f on a goroutine that Close waits for.
func (e *Engine) start(f func()) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("engine: %w", ErrClosed)
	}
	e.work.Go(f)
	return nil
}

// blocking runs f, which makes file calls, in a slot of the volume. When ctx ends first, f goes on and discard runs after it;
// discard also runs after an error of f, so that it can close what f was given.
func (e *Engine) blocking(ctx context.Context, v *Volume, f func() error, discard ...func()) error {
	result := make(chan error)
	cleanUp := func() {
		for _, d := range discard {
			d()
		}
	}
	err := e.start(func() {
		err := v.enter(ctx)
		if err == nil {
			err = f()
			v.leave()
		}
		if err != nil {
			cleanUp()
		}
		select {
		case result <- err:
		case <-ctx.Done():
			if err == nil {
				cleanUp()
			}
		}
	})
	if err != nil {
		cleanUp()
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// snapshot lists the open partitions, and their volumes each once.
func (e *Engine) snapshot() ([]*Partition, map[*Volume]struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	partitions := make([]*Partition, 0, len(e.partitions))
	volumes := map[*Volume]struct{}{}
	for p := range e.partitions {
		partitions = append(partitions, p)
		if p.volume.fs != nil {
			volumes[p.volume] = struct{}{}
		}
	}
	return partitions, volumes
}

// housekeep looks once a second at free space, idle partitions, remembered producers and, when their time has come, retention and compaction.
func (e *Engine) housekeep() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	lastRetention := time.Now()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		retain := e.options.RetentionInterval > 0 && time.Since(lastRetention) >= e.options.RetentionInterval
		if retain {
			lastRetention = time.Now()
		}
		e.sweep(retain)
	}
}

func (e *Engine) sweep(retain bool) {
	partitions, volumes := e.snapshot()
	for v := range volumes {
		// On a goroutine of its own, one for each volume: a volume that hangs must not keep the others from being looked after.
		if v.refreshing.CompareAndSwap(false, true) {
			e.work.Go(func() {
				defer v.refreshing.Store(false)
				e.refresh(v, partitions)
			})
		}
	}
	for _, p := range partitions {
		p.housekeep(retain)
	}
	e.boundProducers(partitions)
	e.compactIfDue(partitions)
}

// tellWhetherFull logs that a volume has become full, and that it has room again: once each, as producers only see errors to retry.
func (e *Engine) tellWhetherFull(v *Volume) {
	full := v.Full()
	if v.toldFull.Swap(full) == full {
		return
	}
	if full {
		e.options.Logger.Error().Str("volume", v.id).Int64("wanted_bytes", v.reopensAt()).
			Msg("volume is full: nothing is written until as much is free, reads go on")
		return
	}
	e.options.Logger.Info().Str("volume", v.id).Msg("volume has room again: writing goes on")
}

func (e *Engine) refresh(v *Volume, partitions []*Partition) {
	if err := v.Refresh(); err != nil {
		e.options.Logger.Warn().Err(err).Str("volume", v.id).Msg("free space of volume is unknown")
	}
	e.tellWhetherFull(v)
	if v.relieve {
		e.relieve(v, partitions)
	}
	if v.Full() {
		for _, p := range partitions {
			p.settleOn(v)
		}
	}
}
