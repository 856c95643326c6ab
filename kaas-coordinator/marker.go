package coordinator

import (
	"context"
	"time"

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
	if number < 0 || number >= slot.Count {
		return ErrNotCoordinator
	}
	led, err := c.enterSlot(number)
	if err != nil {
		return err
	}
	rests, err := led.place(m, time.Now())
	led.Unlock()
	if err != nil {
		return err
	}
	return waitError(ctx, rests.Wait(ctx))
}

// place appends the marker and what it does to every group as one batch. The caller holds the lock.
func (l *leadership) place(m Marker, now time.Time) (slot.Pending, error) {
	last, found := l.marks[m.ProducerID]
	if found && m.Identity <= last.Identity {
		return last.rests, nil
	}
	mark := txn.Mark{Identity: m.Identity, Epoch: m.ProducerEpoch, Commit: m.Commit, Time: now.UnixMilli()}
	value, err := mark.Encode()
	if err != nil {
		return slot.Pending{}, err
	}
	records := []slot.Record{{Key: slot.MarkerKey(m.ProducerID), Value: value}}
	for id, e := range l.groups {
		records = append(records, e.offsets.Completion(id, m.ProducerID, m.Commit)...)
	}
	rests, err := l.slot.Append(records...)
	if err != nil {
		return slot.Pending{}, appendError(err)
	}
	for _, e := range l.groups {
		e.offsets.Complete(m.ProducerID, m.Commit)
		delete(e.staging, m.ProducerID)
	}
	l.marks[m.ProducerID] = placed{Mark: mark, rests: rests}
	return rests, nil
}

// lastMarker is the identity of the last marker of a producer; -1 for none. The caller holds the lock.
func (l *leadership) lastMarker(producerID int64) int64 {
	if last, found := l.marks[producerID]; found {
		return last.Identity
	}
	return -1
}

// applyMark takes a marker record of a replay.
func (r *replayed) applyMark(producerID int64, value []byte) error {
	if value == nil {
		delete(r.marks, producerID)
		return nil
	}
	mark, err := txn.DecodeMark(value)
	if err != nil {
		return err
	}
	r.marks[producerID] = placed{Mark: mark}
	return nil
}
