package catalog

import (
	"context"
	"sync"
	"sync/atomic"
)

// Catalog publishes snapshots. It is safe for concurrent use.
type Catalog struct {
	current atomic.Pointer[Snapshot]

	mutex    sync.Mutex // serializes Update; guards watchers
	watchers map[*watcher]struct{}
}

type watcher struct{ notify chan<- struct{} }

// New returns an empty catalog.
func New() *Catalog {
	c := &Catalog{watchers: map[*watcher]struct{}{}}
	c.current.Store(empty())
	return c
}

// Snapshot is the present state. It never blocks.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Update removes topics by name, then puts topics in (replacing their namesakes), in one step, and wakes the watchers. The topics
// belong to the catalog from then on. It returns what it published.
func (c *Catalog) Update(put []*Topic, removed []string) *Snapshot {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	next := c.current.Load().with(put, removed)
	c.current.Store(next)
	for w := range c.watchers {
		// A full channel has a wake-up in it already, which its reader will follow by reading the newest snapshot.
		select {
		case w.notify <- struct{}{}:
		default:
		}
	}
	return next
}

// Watch sends to ch after every change without ever waiting for it: give it a buffer of one, and read Snapshot after each receipt.
// It begins with what is published after the call, so read Snapshot once after calling it. stop ends it; ch is never closed.
func (c *Catalog) Watch(ch chan<- struct{}) (stop func()) {
	w := &watcher{notify: ch}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.watchers[w] = struct{}{}
	return func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.watchers, w)
	}
}

// Wait returns the first snapshot, beginning with the present one, for which done is true. It ends with the context's error.
func (c *Catalog) Wait(ctx context.Context, done func(*Snapshot) bool) (*Snapshot, error) {
	changed := make(chan struct{}, 1)
	defer c.Watch(changed)()
	for {
		if snapshot := c.Snapshot(); done(snapshot) {
			return snapshot, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}
