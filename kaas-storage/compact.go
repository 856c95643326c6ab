package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// errInputsGone: retention or DeleteRecords has taken a file that was being compacted.
var errInputsGone = errors.New("a file that was being compacted is gone")

// Compact compacts what may be compacted now, whether or not there is enough of it to be worth it, and returns when the result is durable and in use.
// The engine does the same by itself where Config.Compact is set, see Options.CompactionInterval. The last segment is never compacted, as in Kafka.
//
// It waits while another compaction of the engine runs. When ctx ends, so does the compaction. An error leaves the log as it was.
//
// Errors: what ctx says, why the leadership ended, *StorageError, *CorruptionError.
func (p *Partition) Compact(ctx context.Context) error {
	select {
	case p.engine.compactions.token <- struct{}{}:
	case <-p.ended:
		return p.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-p.engine.compactions.token }()
	candidate, err := p.compactable(p.engine.options.Clock.Now())
	if err != nil || len(candidate.inputs) == 0 {
		return err
	}
	if err = p.compact(ctx, candidate); errors.Is(err, errInputsGone) {
		return nil // what is left may be compacted the next time
	}
	return err
}

// compact runs one compaction on a goroutine that the partition's closing waits for, and waits for it: at the end of ctx or of the leadership it ends within
// one file call. The caller holds the engine's token.
//
// What it does to the disk, and why it is safe:
//
//  1. The inputs are closed segments, below an offset that is synced and checked and below every undecided transaction: nobody appends to them any more,
//     and every later leader finds the same bytes there.
//  2. The outputs get names that no manifest knows. They, then their names, are synced: whatever a crash does from here on, a manifest that
//     names them finds them whole.
//  3. With the maintenance lock, which retention, DeleteRecords, recovery points and handover need too: the leadership has not ended, the inputs are still the
//     log's; then a checkpoint writes the manifest with the outputs in the place of the inputs, and checks the claim.
//  4. Only then readers are given the outputs, in one atomic store, and the inputs are unlinked once nobody reads them.
//
// Four questions. The atomic step is the rename of the manifest, for every later leader, and the store of the list of segments, for one's own readers: they never
// see an input and an output of the same offsets. It is idempotent and driven to its end because everything before the manifest is garbage that the
// next leader removes, and everything behind it is the removal of what is dead by it: a crash in between leaves names that the next leader finds in no manifest.
// There is one writer: files carry the epoch of the claim's holder, and the check behind the manifest comes before anything that others could
// notice. A leader that was fenced before has written files and a manifest that nobody reads, and removes nothing; one that is fenced after has been
// read by its successor, whose scan follows the removal of the claim. No name is reused: the epoch is this leadership's alone, the
// generation counts up within it whether or not the compaction before came to its end, and making a file is exclusive.
func (p *Partition) compact(ctx context.Context, c compactionCandidate) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	result := make(chan error, 1)
	p.mu.Lock()
	if err := p.err; err != nil {
		p.mu.Unlock()
		return err
	}
	p.generation++
	generation := p.generation
	p.work.Go(func() {
		began := time.Now()
		run := newCompactionRun(p, c, generation)
		err := run.carryOut(ctx)
		p.engine.metrics.compaction(p.engine.ctx, time.Since(began), run.plan.Stats(), err)
		result <- err
	})
	p.mu.Unlock()
	select {
	case err := <-result:
		return err
	case <-p.ended:
		stop(p.Err())
	case <-ctx.Done():
	}
	return <-result
}

// compactionRun is one compaction of one partition.
type compactionRun struct {
	p          *Partition
	generation uint32
	inputs     []*segment
	plan       *compaction.Plan
	firstDirty int64
	aborted    *abortedFilter
	outputs    []*segment
	cleaned    int64
	memory     []byte // of the batch that was filtered last
	named      bool   // a manifest with the outputs may be on the disk
}

func newCompactionRun(p *Partition, c compactionCandidate, generation uint32) *compactionRun {
	return &compactionRun{p: p, generation: generation, inputs: c.inputs, firstDirty: c.firstDirty, plan: compaction.NewPlan(compaction.Scope{})}
}

// carryOut does the four steps.
func (r *compactionRun) carryOut(ctx context.Context) error {
	err := r.write(ctx)
	if err == nil {
		err = r.commit(ctx)
	}
	if err != nil {
		r.giveUp()
		if isGone(err) && !r.inputsLive() {
			err = errInputsGone // and no file of the log is lost
		}
		return fmt.Errorf("compact %s: %w", r.p.label, err)
	}
	return nil
}

// write is step 2, in a slot of the volume.
func (r *compactionRun) write(ctx context.Context) error {
	if err := r.p.volume.enter(ctx); err != nil {
		return err
	}
	defer r.p.volume.leave()
	if err := r.prepare(); err != nil {
		return err
	}
	if err := r.survey(ctx); err != nil {
		return err
	}
	if len(r.inputs) == 0 {
		return errInputsGone
	}
	if err := r.filter(ctx); err != nil {
		return err
	}
	if err := r.p.dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: r.p.dir.Path(), Err: err}
	}
	return nil
}

// commit is steps 3 and 4.
func (r *compactionRun) commit(ctx context.Context) error {
	p := r.p
	if err := p.lockMaintenance(ctx); err != nil {
		return err
	}
	defer p.unlockMaintenance()
	if err := p.leading(); err != nil {
		return err
	}
	if !r.inputsLive() {
		return errInputsGone
	}
	err := p.checkpoint(ctx, func(m *manifest) {
		r.named = true
		m.replace(r.files(), r.cleaned)
	})
	if err != nil {
		return err
	}
	p.cleaned.Store(p.manifest.Cleaned)
	r.swap()
	r.tellUnreadable()
	for _, s := range r.inputs {
		p.lingering.Add(1)
		p.discard(s, func() { p.lingering.Add(-1) })
	}
	return nil
}

// inputsLive: they were the beginning of the log, and are as long as the log start has not passed one.
func (r *compactionRun) inputsLive() bool {
	live := *r.p.segments.Load()
	return len(live) >= len(r.inputs) && slices.Equal(live[:len(r.inputs)], r.inputs)
}

func (r *compactionRun) files() []compactedFile {
	files := make([]compactedFile, 0, len(r.outputs))
	for _, s := range r.outputs {
		counts := s.index.counts()
		counts.ValidBytes, counts.AbortedEntries = s.size, s.aborted.count()
		files = append(files, compactedFile{Base: s.base, End: s.end.Load(), Epoch: s.epoch, Generation: r.generation, indexState: counts})
	}
	return files
}

// swap shows the outputs to readers. Appends may have added segments meanwhile; what takes them away needs the maintenance lock.
func (r *compactionRun) swap() {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	segments := slices.Concat(r.outputs, (*p.segments.Load())[len(r.inputs):])
	p.segments.Store(&segments)
}

// tellUnreadable says once that batches stay because they cannot be read.
func (r *compactionRun) tellUnreadable() {
	stats := r.plan.Stats()
	if stats.Unreadable > r.p.unreadable {
		r.p.log.Error().Err(stats.FirstUnreadable).Int64("batches", stats.Unreadable).Msg("compaction leaves batches as they are that cannot be read")
	}
	r.p.unreadable = stats.Unreadable
}

// giveUp closes the outputs, and removes them unless a manifest may name them. A failure leaves garbage for the next owner.
func (r *compactionRun) giveUp() {
	var names []string
	for _, s := range r.outputs {
		for _, file := range s.files() {
			if !file.missing() {
				names = append(names, file.name.String())
			}
		}
		s.close()
	}
	if !r.named && len(names) > 0 {
		r.p.removeGarbage(names)
	}
}
