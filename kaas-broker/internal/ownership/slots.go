package ownership

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Slots describe the coordinator's partitions. They are led from Run to the end, whatever the catalog says.
type Slots struct {
	Count  int
	Open   func(slot int) (vfs.Dir, error) // the directory of one slot, which was made before
	Config storage.Config
	Volume *storage.Volume // on which they lie; nil: on that of the topics
}

// slotPlace is one slot.
type slotPlace struct {
	slots *Slots
	slot  int
}

func (p slotPlace) open() (vfs.Dir, error) { return p.slots.Open(p.slot) }

func (p slotPlace) config() storage.Config { return p.slots.Config }

func (p slotPlace) volume() *storage.Volume { return p.slots.Volume }

// slotKey is the key of a slot's entry: no topic has the zero id.
func slotKey(slot int) key { return key{uuid.Nil, int32(slot)} }

func (k key) isSlot() bool { return k.topic == uuid.Nil }

func (m *Manager) adoptSlots() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.options.Slots == nil {
		return
	}
	for slot := range m.options.Slots.Count {
		m.slotLocked(slot)
	}
}

// slotLocked finds the entry of a slot, making it when nobody has asked for it before.
func (m *Manager) slotLocked(slot int) *entry {
	k := slotKey(slot)
	if m.entries[k] == nil {
		m.entries[k] = newEntry(fmt.Sprintf("coordinator-%d", slot), slotPlace{m.options.Slots, slot})
		m.enqueueLocked(m.entries[k], false)
	}
	return m.entries[k]
}

// Acquire waits, over failures too, until the slot is led here, and returns its partition. It is the coordinator's source of slots.
//
// Errors: storage.ErrClosed after Shutdown, ErrUnknownPartition for a slot that does not exist, and ErrTakingOver when ctx ends.
func (m *Manager) Acquire(ctx context.Context, slot int) (*storage.Partition, error) {
	if slots := m.options.Slots; slots == nil || slot < 0 || slot >= slots.Count {
		return nil, fmt.Errorf("coordinator slot %d: %w", slot, ErrUnknownPartition)
	}
	for {
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return nil, fmt.Errorf("coordinator slot %d: %w", slot, storage.ErrClosed)
		}
		e := m.slotLocked(slot)
		p, changed := e.partition, e.changed
		led := e.led() && p.Err() == nil // its end may not be known here yet
		m.mu.Unlock()
		if led {
			return p, nil
		}
		if err := wait(ctx, e, changed); err != nil {
			return nil, err
		}
	}
}
