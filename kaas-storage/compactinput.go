package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// compactionCandidate is the beginning of a log that may be compacted.
type compactionCandidate struct {
	inputs     []*segment
	firstDirty int64 // first offset that no compaction has seen
	clean      int64 // bytes
	dirty      int64
}

// compactable chooses the inputs of a compaction that would begin now: from the first segment on those that are closed, and not the last one with records;
// synced, checked and decided; and, unless compaction has seen them, old enough.
//
// Not the last one: a log that ended in a gap would keep readers waiting who want to come to its end. It is, or was, the one that the recovery point is in, too.
func (p *Partition) compactable(now time.Time) (compactionCandidate, error) {
	var c compactionCandidate
	if err := p.enterVolume(); err != nil {
		return c, err
	}
	defer p.volume.leave()
	err := p.unlessReplaced(func() (err error) {
		c, err = p.findCompactable(now)
		return err
	})
	return c, err
}

func (p *Partition) findCompactable(now time.Time) (compactionCandidate, error) {
	p.mu.Lock()
	synced, last := p.synced, p.lastOwn.segment
	p.mu.Unlock()
	cleaned := p.cleaned.Load()
	c := compactionCandidate{firstDirty: max(cleaned, p.logStart.Load())}
	bound := min(synced, p.Offsets().LastStable)
	segments := *p.segments.Load()
	for i, s := range segments {
		end := s.end.Load()
		if end > bound || s == last || i+1 == len(segments) || segments[i+1].base >= synced {
			break
		}
		if end <= cleaned {
			c.clean += s.committed.Load()
		} else {
			young, err := s.tooYoung(p.Config().MinCompactionLag, now)
			if err != nil {
				return compactionCandidate{}, err
			}
			if young {
				break
			}
			c.dirty += s.committed.Load()
		}
		c.inputs = append(c.inputs, s)
	}
	if n := len(c.inputs); n > 0 && c.inputs[n-1].end.Load() < cleaned {
		return compactionCandidate{}, nil // the inputs must reach as far as those before did
	}
	return c, nil
}

// tooYoung: Kafka looks at the newest record, too, and at the file's age where there is none with a timestamp.
func (s *segment) tooYoung(lag time.Duration, now time.Time) (bool, error) {
	if lag <= 0 {
		return false, nil
	}
	old, err := s.expired(lag, now)
	return !old, err
}

// overdue reports whether a dirty input has been there for longer than MaxCompactionLag (KIP-354): by the first batch of each.
func (c compactionCandidate) overdue(lag time.Duration, now time.Time) (bool, error) {
	if lag <= 0 {
		return false, nil
	}
	for _, s := range c.inputs {
		if s.end.Load() <= c.firstDirty {
			continue
		}
		first := batch.NoTimestamp
		err := s.read1(func(header batch.Batch) { first = header.MaxTimestamp() })
		if err != nil {
			return false, err
		}
		if first > 0 && now.UnixMilli()-first > lag.Milliseconds() {
			return true, nil
		}
	}
	return false, nil
}

// read1 looks at the first header of the segment, if there is one, and leaves the file closed: there may be any number of inputs.
func (s *segment) read1(look func(header batch.Batch)) error {
	defer s.log.closeUnused()
	file, err := s.log.acquire()
	if err != nil {
		return s.fail("open segment", err)
	}
	defer s.log.release()
	return s.scan(file, 0, func(header batch.Batch, _, _ int64) bool {
		look(header)
		return false
	})
}

// prepare gathers what the rules need to know.
func (r *compactionRun) prepare() error {
	p := r.p
	first, end := r.inputs[0].base, r.inputs[len(r.inputs)-1].end.Load()
	// No reader holds a file of an earlier compaction: then nobody can ask about records that the inputs do not have any more.
	unread := p.lingering.Load() == 0
	overlapping, err := abortedIn(*p.segments.Load(), first, end)
	if err != nil {
		return err
	}
	if r.aborted, err = newAbortedFilter(r.inputs, !unread); err != nil {
		return err
	}
	scope := compaction.Scope{
		FirstDirty: r.firstDirty, End: end, Now: p.engine.options.Clock.Now().UnixMilli(), DeleteRetention: p.Config().DeleteRetention,
		MapBytes: p.engine.options.CompactionMemory, Limit: batch.DefaultLimit, Tripwires: p.engine.options.Tripwires,
		Producers: make(map[int64]compaction.Producer),
	}
	for _, a := range overlapping {
		scope.Aborted = append(scope.Aborted, compaction.Aborted(a))
	}
	p.mu.Lock()
	for id, known := range p.producers {
		last := int64(-1)
		if mark, found := known.last(); found {
			last = mark.LastOffset
		}
		scope.Producers[id] = compaction.Producer{LastOffset: last, Epoch: known.Epoch}
	}
	p.mu.Unlock()
	r.plan = compaction.NewPlan(scope)
	return nil
}

// survey reads what no compaction has seen, until the map is full, and leaves out the inputs behind that.
func (r *compactionRun) survey(ctx context.Context) error {
	full := false
	for _, s := range r.inputs {
		if full || s.end.Load() <= r.firstDirty {
			continue
		}
		err := r.batches(ctx, s, func(b batch.Batch) (err error) {
			if !full && b.LastOffset() >= r.firstDirty {
				full, err = r.plan.Survey(b)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	r.cleaned = max(r.plan.NextDirty(), r.firstDirty)
	n := 0
	for n < len(r.inputs) && r.inputs[n].base < r.cleaned {
		n++
	}
	r.inputs = r.inputs[:n]
	return nil
}

// batches walks a whole input, and closes it. What is not as it was written ends the compaction: an output must not hide a hole.
func (r *compactionRun) batches(ctx context.Context, s *segment, visit func(b batch.Batch) error) error {
	defer s.log.closeUnused()
	file, err := s.log.acquire()
	if err != nil {
		return s.fail("open segment", err)
	}
	defer s.log.release()
	next, end := s.base, s.end.Load()
	s.walk(file, func(placed PlacedBatch, walked error) bool {
		b := placed.Batch
		switch {
		case walked != nil:
			err = walked
		case b.BaseOffset() < next || b.BaseOffset() > next && !s.compacted() || b.LastOffset() >= end:
			err = s.corrupt(placed.Position, fmt.Sprintf("batch of offsets %d to %d instead of %d", b.BaseOffset(), b.LastOffset(), next))
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		default:
			next = b.LastOffset() + 1
			err = visit(b)
		}
		return err == nil
	})
	if err == nil && next != end && !s.compacted() {
		err = s.corrupt(s.size, fmt.Sprintf("ends at offset %d instead of %d", next, end))
	}
	if errors.Is(err, compaction.ErrOrder) {
		err = s.corrupt(-1, err.Error())
	}
	return err
}
