package storage

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// longestCompactionPause bounds the time between two tries of a partition whose compaction fails.
const longestCompactionPause = time.Hour

// compactions is what an engine knows of the compactions of its partitions (Kafka's LogCleanerManager).
type compactions struct {
	token   chan struct{} // held by the one that runs
	passing atomic.Bool   // a pass is under way; its goroutine owns the rest
	last    time.Time     // when the last pass ended
	failing map[*Partition]compactionFailure
}

// compactionFailure puts a partition off.
type compactionFailure struct {
	until time.Time
	pause time.Duration
}

func newCompactions() compactions {
	return compactions{token: make(chan struct{}, 1), last: time.Now(), failing: make(map[*Partition]compactionFailure)}
}

// compactIfDue begins a pass, on a goroutine of the engine, when the last one ended long enough ago.
func (e *Engine) compactIfDue(partitions []*Partition) {
	c := &e.compactions
	if e.options.CompactionInterval < 0 || !c.passing.CompareAndSwap(false, true) {
		return
	}
	if time.Since(c.last) < e.options.CompactionInterval {
		c.passing.Store(false)
		return
	}
	e.work.Go(func() {
		defer c.passing.Store(false)
		e.compactDue(partitions)
		c.last = time.Now()
	})
}

// compactDue compacts each partition that is worth it, the one with the largest share of bytes that no compaction has seen first.
func (e *Engine) compactDue(partitions []*Partition) {
	type due struct {
		partition *Partition
		candidate compactionCandidate
	}
	var all []due
	for _, p := range partitions {
		if !p.Config().Compact || p.Err() != nil || p.volume.Full() || time.Now().Before(e.compactions.failing[p].until) {
			continue
		}
		candidate, worth, err := p.worthCompacting(e.options.Clock.Now())
		if err != nil {
			e.compactionFailed(p, err)
		} else if worth {
			all = append(all, due{p, candidate})
		}
	}
	slices.SortStableFunc(all, func(a, b due) int {
		switch x, y := a.candidate.ratio(), b.candidate.ratio(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, d := range all {
		e.compactOne(d.partition)
	}
	e.forgetFailures(partitions)
}

// compactOne looks at the partition again: those before it may have taken long.
func (e *Engine) compactOne(p *Partition) {
	select {
	case e.compactions.token <- struct{}{}:
	case <-e.ctx.Done():
		return
	}
	defer func() { <-e.compactions.token }()
	candidate, worth, err := p.worthCompacting(e.options.Clock.Now())
	if err == nil && worth {
		err = p.compact(e.ctx, candidate)
	}
	if err != nil {
		e.compactionFailed(p, err)
		return
	}
	delete(e.compactions.failing, p)
}

// compactionFailed says so, once until it succeeds, and puts the partition off, each time for twice as long.
func (e *Engine) compactionFailed(p *Partition, err error) {
	if errors.Is(err, errInputsGone) || p.Err() != nil || errors.Is(err, ErrClosed) || errors.Is(err, context.Canceled) {
		return
	}
	failure, again := e.compactions.failing[p]
	if !again {
		p.log.Error().Err(err).Msg("compaction failed; the log is as it was, and it is tried again from time to time")
	}
	failure.pause = min(max(2*failure.pause, e.options.CompactionInterval), longestCompactionPause)
	failure.until = time.Now().Add(failure.pause)
	e.compactions.failing[p] = failure
}

func (e *Engine) forgetFailures(partitions []*Partition) {
	for p := range e.compactions.failing {
		if !slices.Contains(partitions, p) {
			delete(e.compactions.failing, p)
		}
	}
}

// worthCompacting: enough of what may be compacted is dirty, or has been for too long (Kafka's LogToClean).
func (p *Partition) worthCompacting(now time.Time) (compactionCandidate, bool, error) {
	config := p.Config()
	c, err := p.compactable(now)
	if err != nil || c.dirty == 0 {
		return c, false, err
	}
	if c.ratio() > config.MinCleanableDirtyRatio {
		return c, true, nil
	}
	overdue := false
	err = p.unlessReplaced(func() (err error) {
		overdue, err = c.overdue(config.MaxCompactionLag, now)
		return err
	})
	return c, overdue, err
}

// ratio is the share of bytes that no compaction has seen.
func (c compactionCandidate) ratio() float64 {
	return float64(c.dirty) / float64(max(c.clean+c.dirty, 1))
}
