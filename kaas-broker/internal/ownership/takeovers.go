package ownership

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// enqueueLocked asks for a takeover; a worker is started if fewer than allowed run.
func (m *Manager) enqueueLocked(e *entry, urgent bool) {
	if m.closed || e.gone || e.taking != nil || e.led() {
		return
	}
	m.queue.push(e, urgent)
	if m.running < m.options.Parallel {
		m.running++
		m.work.Go(m.takeQueued)
	}
}

// takeQueued takes over until nothing is queued.
func (m *Manager) takeQueued() {
	for {
		m.mu.Lock()
		e := m.queue.pop()
		for e != nil && e.gone {
			e = m.queue.pop()
		}
		if e == nil || m.closed {
			m.running--
			m.mu.Unlock()
			return
		}
		ctx, cancel := context.WithTimeout(m.ctx, m.options.TakeoverTimeout)
		done := make(chan struct{})
		e.taking = &taking{cancel: cancel, done: done}
		at := e.place
		m.mu.Unlock()
		t := &term{}
		p, err := m.take(ctx, e, at, t)
		cancel()
		m.taken(e, t, p, err)
		close(done)
	}
}

func (m *Manager) take(ctx context.Context, e *entry, at place, t *term) (*storage.Partition, error) {
	dir, err := openDir(ctx, at)
	if err != nil {
		return nil, err
	}
	return m.options.Engine.Take(ctx, dir, storage.TakeOptions{
		Label:  e.label,
		Volume: cmp.Or(at.volume(), m.options.Volume),
		Config: at.config(),
		Ended:  func(err error) { m.ended(e, t, err) },

		Entitled: m.options.Entitled,
	})
}

// openDir opens a partition's directory. When ctx ends first, the file operation goes on by itself: nothing can stop one that hangs, and waiting for
// it would keep the worker, and the end of the manager, as long as the volume hangs.
func openDir(ctx context.Context, at place) (vfs.Dir, error) {
	type opened struct {
		dir vfs.Dir
		err error
	}
	result := make(chan opened)
	go func() {
		dir, err := at.open()
		select {
		case result <- opened{dir, err}:
		case <-ctx.Done():
			if err == nil {
				_ = dir.Close()
			}
		}
	}()
	select {
	case o := <-result:
		return o.dir, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// taken records the outcome of one takeover. The old leadership's partition is closed only now: until here it answered reads.
func (m *Manager) taken(e *entry, t *term, p *storage.Partition, err error) {
	m.mu.Lock()
	e.taking = nil
	switch {
	case e.gone || m.closed:
		m.mu.Unlock()
		m.discard(p)
		return
	case err != nil:
		m.failedLocked(e, err)
	default:
		m.openedLocked(e, t, p)
	}
	m.mu.Unlock()
}

// discard closes what nobody wants any more, and waits for it.
func (m *Manager) discard(p *storage.Partition) {
	if p == nil {
		return
	}
	p.Abandon()
	select {
	case <-p.Closed():
	case <-m.ctx.Done():
	}
}

func (m *Manager) openedLocked(e *entry, t *term, p *storage.Partition) {
	old := e.partition
	e.partition, e.term, e.failure, e.attempts = p, t, nil, 0
	configureLocked(e, e.place) // which may have changed meanwhile
	if old != nil {
		old.Abandon()
	}
	// It may have ended before it was recorded here: then ended took no notice of it.
	if err := p.Err(); err != nil {
		m.failedLocked(e, err)
		return
	}
	e.announceLocked()
}

func (m *Manager) failedLocked(e *entry, err error) {
	e.failure = err
	e.attempts++
	e.announceLocked()
	delay := retryDelay(e.attempts)
	if e.attempts == 1 || e.attempts%10 == 0 {
		m.options.Logger.Warn().Err(err).Str("partition", e.label).Int("attempts", e.attempts).Dur("retry_in", delay).
			Msg("partition cannot be taken over")
	}
	m.retryLocked(e, delay)
}

// retryDelay is the time after the given number of failures in a row, at least one.
func retryDelay(attempts int) time.Duration {
	return min(firstRetry<<min(attempts-1, 10), lastRetry)
}

func (m *Manager) retryLocked(e *entry, delay time.Duration) {
	e.retry = time.AfterFunc(delay, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.enqueueLocked(e, false)
	})
}

// ended is told by the engine that a leadership ended. After a failed file operation the partition is taken over anew at once; after a fence
// the other owner is given time, or is left alone, so that two processes do not fight.
func (m *Manager) ended(e *entry, t *term, err error) {
	fenced := errors.Is(err, storage.ErrFenced)
	if fenced && m.options.Fenced != nil {
		m.options.Fenced(e.label, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// A term that is not recorded, or whose end is known, is dealt with by openedLocked: to act twice would take over what is led by then.
	if e.gone || m.closed || e.term != t || e.failure != nil {
		return
	}
	e.failure = err
	e.announceLocked()
	switch {
	case !fenced:
		m.enqueueLocked(e, true)
	case m.options.Fenced == nil:
		m.retryLocked(e, firstRetry)
	}
}
