package ownership

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// entry is one partition, of a topic or of the coordinator. The manager's mutex guards it, but for what never changes.
//
// Of a takeover in the queue, a takeover under way and a retry that is timed there is at most one, and none while the partition is led: taking over
// a partition that is led well would fence it.
type entry struct {
	label string // never changes

	place     place
	partition *storage.Partition // the newest that was opened; its leadership may have ended
	term      *term              // of partition
	failure   error              // why the last attempt, or the last leadership, ended
	attempts  int                // failures in a row
	retry     *time.Timer
	taking    *taking // the takeover under way, nil if there is none
	gone      bool
	changed   chan struct{} // closed and replaced at each change
	state     queueState
}

// term identifies one leadership before there is a partition for it: it may end before it is known here.
type term struct{ _ byte } // not of size zero, so that two are never the same

// taking is a takeover under way.
type taking struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has returned, and what it opened for an entry that is gone is closed
}

func newEntry(label string, at place) *entry {
	return &entry{label: label, place: at, changed: make(chan struct{})}
}

// led reports whether the partition is open and its leadership has not ended, as far as is known.
func (e *entry) led() bool { return e.partition != nil && e.failure == nil }

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
	if e.taking != nil {
		e.taking.cancel()
	}
	e.announceLocked()
	return p
}
