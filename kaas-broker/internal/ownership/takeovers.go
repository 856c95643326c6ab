package ownership

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// entry is one partition. The manager's mutex guards it.
type entry struct {
	topic     *catalog.Topic
	index     int32
	partition *storage.Partition // the newest that was opened; its leadership may have ended
	failure   error              // why the last attempt, or the last leadership, ended
	attempts  int                // failures in a row
	retry     *time.Timer
	gone      bool
	changed   chan struct{} // closed and replaced at each change
	state     queueState
}

func newEntry(topic *catalog.Topic, index int32) *entry {
	return &entry{topic: topic, index: index, changed: make(chan struct{})}
}

func (e *entry) label() string { return fmt.Sprintf("%s-%d", e.topic.Name, e.index) }

func (e *entry) announceLocked() {
	close(e.changed)
	e.changed = make(chan struct{})
}

// endLocked marks the entry as given up and returns what it had open.
func (e *entry) endLocked(why error) *storage.Partition {
	p := e.partition
	e.gone, e.partition, e.failure = true, nil, why
	if e.retry != nil {
		e.retry.Stop()
	}
	e.announceLocked()
	return p
}

// enqueueLocked asks for a takeover; a worker is started if fewer than allowed run.
func (m *Manager) enqueueLocked(e *entry, urgent bool) {
	if m.closed || e.gone {
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
		topic := e.topic
		m.mu.Unlock()
		ctx, cancel := context.WithTimeout(m.ctx, m.options.TakeoverTimeout)
		p, err := m.take(ctx, e, topic)
		cancel()
		m.taken(e, p, err)
	}
}

// taken records the outcome of one takeover. The old leadership's partition is closed only now: until here it answered reads.
func (m *Manager) taken(e *entry, p *storage.Partition, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := e.partition
	switch {
	case e.gone || m.closed:
		if p != nil {
			p.Abandon()
		}
		return
	case err != nil:
		m.failedLocked(e, err)
		return
	}
	e.partition, e.failure, e.attempts = p, p.Err(), 0
	m.configureLocked(e, e.topic) // the topic may have changed meanwhile
	e.announceLocked()
	if old != nil {
		old.Abandon()
	}
	if e.failure != nil {
		m.failedLocked(e, e.failure) // it ended before it was recorded here
	}
}

func (m *Manager) failedLocked(e *entry, err error) {
	e.failure = err
	e.attempts++
	e.announceLocked()
	delay := min(firstRetry<<min(e.attempts-1, 10), lastRetry)
	if e.attempts == 1 || e.attempts%10 == 0 {
		m.options.Logger.Warn().Err(err).Str("partition", e.label()).Int("attempts", e.attempts).Dur("retry_in", delay).
			Msg("partition cannot be taken over")
	}
	m.retryLocked(e, delay)
}

func (m *Manager) retryLocked(e *entry, delay time.Duration) {
	if m.closed || e.gone {
		return
	}
	e.retry = time.AfterFunc(delay, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.enqueueLocked(e, false)
	})
}

// ended is told by the engine that a leadership ended. After a failed file operation the partition is taken over anew at once; after a fence
// the other owner is given time, so that two processes do not fight.
func (m *Manager) ended(e *entry, err error) {
	fenced := errors.Is(err, storage.ErrFenced)
	if fenced && m.options.Fenced != nil {
		m.options.Fenced(e.label(), err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.gone || m.closed || e.partition == nil {
		return
	}
	e.failure = err
	e.announceLocked()
	if fenced {
		m.retryLocked(e, firstRetry)
		return
	}
	m.enqueueLocked(e, true)
}
