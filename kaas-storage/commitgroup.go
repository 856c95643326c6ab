package storage

import (
	"context"
	"sync"
	"sync/atomic"
)

// usualBatches is how many batches a group holds without a slice of its own: as many as one client has requests under way.
const usualBatches = 5

// commitGroup is a run of appends that share one write, one sync and one fence check.
type commitGroup struct {
	segment  *segment
	position int64
	buffers  [][]byte
	bytes    int64
	records  int64
	end      int64 // behind the last record
	sync     bool  // a sync is asked for whatever FlushMessages says
	started  bool  // the committer has taken it: it takes no more appends

	written milestone
	durable milestone

	first [usualBatches][]byte // where buffers begin
}

func newCommitGroup(s *segment) *commitGroup {
	g := &commitGroup{segment: s, position: s.size}
	g.buffers = g.first[:0]
	return g
}

// forget gives the batches' bytes back.
func (g *commitGroup) forget() { g.buffers, g.first = nil, [usualBatches][]byte{} }

// finish wakes everybody who waits for the group.
func (g *commitGroup) finish(err error) {
	g.written.reach(err)
	g.durable.reach(err)
}

// milestone is something that happens once, or fails.
type milestone struct {
	reached atomic.Bool // err is set

	mu      sync.Mutex
	err     error
	waiting chan struct{} // made by the first who waits
}

// reach wakes everybody who waits. Only the first call counts.
func (m *milestone) reach(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reached.Load() {
		return
	}
	m.err = err
	m.reached.Store(true)
	if m.waiting != nil {
		close(m.waiting)
	}
}

// pending is closed when the milestone is reached; nil when it has been.
func (m *milestone) pending() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.reached.Load() {
		return nil
	}
	if m.waiting == nil {
		m.waiting = make(chan struct{})
	}
	return m.waiting
}

// wait returns what came of it. A milestone that is reached counts even if ctx has ended too.
func (m *milestone) wait(ctx context.Context) error {
	if pending := m.pending(); pending != nil {
		select {
		case <-pending:
		case <-ctx.Done():
			if !m.reached.Load() {
				return context.Cause(ctx)
			}
		}
	}
	return m.err
}
