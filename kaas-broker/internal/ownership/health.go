package ownership

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// Health is a count of the partitions of this broker, for /healthz.
type Health struct {
	Assigned   int
	Served     int
	Recovering int       // waiting for their takeover, or being taken over
	Stalled    bool      // a file operation or a takeover did not end in time
	Failed     []Failure // in order of their labels
}

// Failure is one partition that cannot be served now.
type Failure struct {
	Partition string
	Reason    string
}

// Health looks at every partition.
func (m *Manager) Health() Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := Health{Assigned: len(m.entries)}
	for _, e := range m.entries {
		switch {
		case e.failure != nil:
			h.Failed = append(h.Failed, Failure{Partition: e.label, Reason: e.failure.Error()})
			h.Stalled = h.Stalled || errors.Is(e.failure, storage.ErrStalled) || errors.Is(e.failure, context.DeadlineExceeded)
		case e.partition == nil:
			h.Recovering++
		default:
			h.Served++
		}
	}
	slices.SortFunc(h.Failed, func(a, b Failure) int { return cmp.Compare(a.Partition, b.Partition) })
	return h
}
