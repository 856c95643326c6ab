package ownership

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// Health is a count of the partitions and slots of this broker, for /healthz.
type Health struct {
	Counts         // of the topics' partitions
	Slots   Counts // of the coordinator
	Stalled bool   // a file operation or a takeover did not end in time
}

// Counts say how many partitions are in which state.
type Counts struct {
	Assigned   int
	Served     int
	Recovering int       // waiting for their takeover, or being taken over
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
	var h Health
	for k, e := range m.entries {
		counts := &h.Counts
		if k.isSlot() {
			counts = &h.Slots
		}
		counts.add(e)
		h.Stalled = h.Stalled || errors.Is(e.failure, storage.ErrStalled) || errors.Is(e.failure, context.DeadlineExceeded)
	}
	h.sort()
	h.Slots.sort()
	return h
}

func (c *Counts) add(e *entry) {
	c.Assigned++
	switch {
	case e.failure != nil:
		c.Failed = append(c.Failed, Failure{Partition: e.label, Reason: e.failure.Error()})
	case e.partition == nil:
		c.Recovering++
	default:
		c.Served++
	}
}

func (c *Counts) sort() {
	slices.SortFunc(c.Failed, func(a, b Failure) int { return cmp.Compare(a.Partition, b.Partition) })
}
