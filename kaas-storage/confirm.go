package storage

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// checkGate lets everybody who needs a fence check share one.
type checkGate struct {
	mu      sync.Mutex
	last    time.Time // beginning of the latest check that succeeded
	running *checkRun
}

type checkRun struct {
	began time.Time
	done  chan struct{}
}

// succeeded notes a check made by a commit.
func (g *checkGate) succeeded(began time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if began.After(g.last) {
		g.last = began
	}
}

// join returns nil when a check that began at notBefore or later has succeeded; else the run to wait for, and whether the caller is to start it.
func (g *checkGate) join(notBefore time.Time) (run *checkRun, start bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.last.Before(notBefore) {
		return nil, false
	}
	if g.running != nil {
		return g.running, false
	}
	g.running = &checkRun{began: time.Now(), done: make(chan struct{})}
	return g.running, true
}

func (g *checkGate) finish(run *checkRun, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ok && run.began.After(g.last) {
		g.last = run.began
	}
	g.running = nil
	close(run.done)
}

// Confirm returns nil when a fence check that began at or after notBefore has succeeded: at that time no other owner could have acknowledged
// anything. Answers that are computed without an append need it. All waiters share checks, also those of commits.
func (p *Partition) Confirm(ctx context.Context, notBefore time.Time) error {
	for {
		if err := p.Err(); err != nil {
			return err
		}
		run, start := p.checks.join(notBefore)
		if run == nil {
			return nil
		}
		if start && !p.startCheck(run) {
			p.checks.finish(run, false)
			continue
		}
		select {
		case <-run.done:
		case <-p.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *Partition) startCheck(run *checkRun) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return false
	}
	p.work.Go(func() {
		err := p.checkOnce()
		if err != nil {
			p.fail(err)
		}
		p.checks.finish(run, err == nil)
	})
	return true
}

func (p *Partition) checkOnce() error {
	watch := newWatchdog(p.engine.options.IODeadline, func() {
		p.fail(fmt.Errorf("check of %s: %w", p.label, ErrStalled))
	})
	defer watch.end()
	if err := p.enterVolume(); err != nil {
		return err
	}
	defer p.volume.leave()
	return p.claim.check()
}
