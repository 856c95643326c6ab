package coordinator

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// leadership is one slot while it is led here: the replay of its records, kept up to date. It is the group.Host of its groups. Everything but slot is
// used under the slot's lock.
type leadership struct {
	slot   *slot.Slot
	epoch  int32 // of the partition, which markers tell
	config group.Config
	log    zerolog.Logger
	groups map[string]*entry
	timers sync.WaitGroup // of all groups
	ended  bool

	transactions map[string]*transaction
	marks        map[int64]placed // by producer id

	ctx        context.Context // ends the deliveries; set by load, ended by close
	cancel     context.CancelFunc
	deliveries sync.WaitGroup
}

// entry is one group.
type entry struct {
	live    *group.Live
	offsets *offset.Offsets
	stored  bool // a group record is in the slot
	// staging holds the epochs of producers that were verified since their last marker, by producer id.
	staging map[int64]int16
}

func (l *leadership) liveOptions(id string) group.LiveOptions {
	return group.LiveOptions{ID: id, Config: l.config, Host: l, Logger: l.log, Work: &l.timers}
}

// enter takes the lock while the slot is led here. The caller leaves it by Unlock.
func (l *leadership) enter() error {
	l.Lock()
	if l.ended {
		l.Unlock()
		return ErrNotCoordinator
	}
	return nil
}

// Lock and Unlock are the slot's.
func (l *leadership) Lock() { l.slot.Lock() }

func (l *leadership) Unlock() { l.slot.Unlock() }

// Barrier is the slot's.
func (l *leadership) Barrier() slot.Pending { return l.slot.Barrier() }

// Store appends a group's snapshot.
func (l *leadership) Store(id string, s group.Snapshot) error {
	value, err := s.Encode()
	if err != nil {
		return err
	}
	if _, err := l.slot.Append(slot.Record{Key: slot.GroupKey(id), Value: value}); err != nil {
		return err
	}
	if e := l.groups[id]; e != nil {
		e.stored = true
	}
	return nil
}

// group returns a group, making it if need be. The caller holds the lock.
func (l *leadership) group(id string) *entry {
	e := l.groups[id]
	if e == nil {
		e = &entry{live: group.NewLive(l.liveOptions(id)), offsets: offset.New()}
		l.groups[id] = e
	}
	return e
}

func (l *leadership) count() int {
	l.Lock()
	defer l.Unlock()
	return len(l.groups)
}

// close ends every group and delivery: whoever waits is sent to another coordinator.
func (l *leadership) close() {
	l.Lock()
	l.ended = true
	l.cancel()
	for _, e := range l.groups {
		e.live.Close(ErrNotCoordinator)
	}
	l.Unlock()
	l.timers.Wait()
	l.deliveries.Wait()
	l.slot.Close()
}
