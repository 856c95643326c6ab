package ownership

import (
	"context"
	"errors"
	"sync"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// Shutdown hands every partition over, so that the next owner has nothing to scan. The end of ctx leaves the rest abandoned, which is as safe. The error
// joins why partitions that were led until now could not be handed over.
func (m *Manager) Shutdown(ctx context.Context) error {
	led := m.endAll()
	m.stop()
	m.work.Wait()
	var mu sync.Mutex
	var errs []error
	var handovers sync.WaitGroup
	slots := make(chan struct{}, m.options.Parallel)
	for _, p := range led {
		slots <- struct{}{}
		handovers.Go(func() {
			defer func() { <-slots }()
			if p.Err() != nil {
				p.Abandon()
				return
			}
			if err := p.Handover(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	handovers.Wait()
	return errors.Join(errs...)
}

// endAll gives all entries up and returns what they had open. Nothing is taken over from then on.
func (m *Manager) endAll() []*storage.Partition {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	var open []*storage.Partition
	for k, e := range m.entries {
		delete(m.entries, k)
		if p := e.endLocked(storage.ErrClosed); p != nil {
			open = append(open, p)
		}
	}
	return open
}
