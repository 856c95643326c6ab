package coordinator

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// placed is the last marker of a producer in a slot.
type placed struct {
	txn.Mark
	rests slot.Pending
}

// WriteOffsetMarker ends a producer's transaction in the groups of a slot: the offsets that it staged there become the committed ones, or go. It returns when
// that is durable, and the same for a marker that was placed before, also by an earlier leader.
//
// Errors: ErrLoading, ErrNotCoordinator, group.ErrNotAvailable when there is no room, and ctx's.
func (c *Coordinator) WriteOffsetMarker(ctx context.Context, number int, m Marker) error {
	if number < 0 || number >= len(c.seats) {
		return ErrNotCoordinator
	}
	for whole := false; !whole; {
		led, err := c.enterSlot(number)
		if err != nil {
			return err
		}
		var rests slot.Pending
		rests, whole, err = led.place(m, time.Now())
		led.Unlock()
		if err != nil {
			return err
		}
		if err := waitError(ctx, rests.Wait(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// completionBytes is about how much one batch of a marker holds. What a transaction has staged may be a thousand times as much, and would be in memory several times over.
const completionBytes = 1 << 20

// place appends the marker and what it does to every group as one batch. If that is more than a batch should hold it appends a part of it, without the marker: whole
// is false, and the rest follows by calling it again once that part is durable. The decision is made, so that nothing is wrong with a part, also after a
// crash: what is left is still staged, and still waits for the marker. The caller holds the lock.
func (l *leadership) place(m Marker, now time.Time) (rests slot.Pending, whole bool, err error) {
	last, found := l.marks[m.ProducerID]
	if found && m.Identity <= last.Identity {
		return last.rests, true, nil
	}
	mark := txn.Mark{Identity: m.Identity, Epoch: m.ProducerEpoch, Commit: m.Commit, Time: now.UnixMilli()}
	value, err := mark.Encode()
	if err != nil {
		return slot.Pending{}, false, err
	}
	ended, records, whole := l.completion(m)
	if whole {
		records = append(records, slot.Record{Key: slot.MarkerKey(m.ProducerID), Value: value})
	}
	if rests, err = l.slot.Append(records...); err != nil {
		return slot.Pending{}, false, appendError(err)
	}
	for e, partitions := range ended {
		e.offsets.Complete(m.ProducerID, partitions, m.Commit)
	}
	if whole {
		for _, e := range l.groups {
			delete(e.staging, m.ProducerID)
		}
		l.marks[m.ProducerID] = placed{Mark: mark, rests: rests}
	}
	return rests, whole, nil
}

// completion collects what a marker does to the groups, up to completionBytes. The caller holds the lock.
func (l *leadership) completion(m Marker) (ended map[*entry][]offset.Partition, records []slot.Record, whole bool) {
	ended = make(map[*entry][]offset.Partition)
	size := 0
	for id, e := range l.groups {
		for _, at := range e.offsets.Staged(m.ProducerID) {
			if size >= completionBytes {
				return ended, records, false
			}
			for _, r := range e.offsets.Completion(id, m.ProducerID, at, m.Commit) {
				size += len(id) + len(at.Topic) + len(r.Value)
				records = append(records, r)
			}
			ended[e] = append(ended[e], at)
		}
	}
	return ended, records, true
}

// lastMarker is the identity of the last marker of a producer; -1 for none. The caller holds the lock.
func (l *leadership) lastMarker(producerID int64) int64 {
	if last, found := l.marks[producerID]; found {
		return last.Identity
	}
	return -1
}
