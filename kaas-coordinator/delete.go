package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Delete is a DeleteGroups request for one group: it goes with all of its offsets, those of open transactions included.
//
// Errors: ErrLoading, ErrNotCoordinator, ErrGroupNotFound, ErrNonEmptyGroup, and ctx's.
func (c *Coordinator) Delete(ctx context.Context, id string) error {
	id = normal(id)
	var refusal error
	if err := c.settled(ctx, id, time.Now(), func(led *leadership) { refusal = led.delete(id) }); err != nil {
		return err
	}
	return refusal
}

func (l *leadership) delete(id string) error {
	e := l.groups[id]
	switch {
	case e == nil:
		return ErrGroupNotFound
	case e.live.Machine().State() != group.Empty:
		return ErrNonEmptyGroup
	}
	// Ids that were handed out to members that did not join are no members.
	return l.removeAll(id, e)
}

// removeAll removes a group with its offsets.
func (l *leadership) removeAll(id string, e *entry) error {
	var itself []slot.Record
	if e.stored {
		itself = append(itself, slot.Record{Key: slot.GroupKey(id)})
	}
	if err := l.removeOffsets(id, e, e.offsets.All(), itself...); err != nil {
		return err
	}
	e.live.Close(group.ErrNotAvailable)
	delete(l.groups, id)
	return nil
}

// removeOffsets removes some of a group's offsets, as many in one batch as it may hold, and more records with the last of them. The caller holds the lock.
func (l *leadership) removeOffsets(id string, e *entry, partitions []offset.Partition, more ...slot.Record) error {
	most := max(slot.PieceBytes/(usualValue+len(id)), 1)
	for {
		piece := partitions[:min(most, len(partitions))]
		partitions = partitions[len(piece):]
		records := e.offsets.Removal(id, piece)
		if len(partitions) == 0 {
			records = append(records, more...)
		}
		if _, err := l.slot.Append(records...); err != nil {
			return appendError(err)
		}
		e.offsets.Forget(piece)
		if len(partitions) == 0 {
			return nil
		}
	}
}

// DeleteOffsets is an OffsetDelete request. The results are one error for each partition: nil, also where there was no offset, or
// ErrSubscribed where members may consume the topic. When the last offset of a group without members goes, the group goes too.
//
// Errors: ErrInvalidGroupID, ErrLoading, ErrNotCoordinator, ErrGroupNotFound, ErrNonEmptyGroup for groups of other types than consumer, and
// ctx's.
func (c *Coordinator) DeleteOffsets(ctx context.Context, id string, partitions []offset.Partition) ([]error, error) {
	id, err := groupID(id)
	if err != nil {
		return nil, err
	}
	var results []error
	var refusal error
	err = c.settled(ctx, id, time.Now(), func(led *leadership) { results, refusal = led.deleteOffsets(id, partitions) })
	if err != nil {
		return nil, err
	}
	return results, refusal
}

func (l *leadership) deleteOffsets(id string, partitions []offset.Partition) ([]error, error) {
	e := l.groups[id]
	if e == nil {
		return nil, ErrGroupNotFound
	}
	results := make([]error, len(partitions))
	var known []offset.Partition
	seen := make(map[offset.Partition]bool, len(partitions))
	for i, at := range partitions {
		results[i] = e.mayDelete(at.Topic)
		if results[i] == ErrNonEmptyGroup { //nolint:errorlint // our own result, never wrapped
			return nil, ErrNonEmptyGroup
		}
		if results[i] == nil && !seen[at] && e.offsets.Has(at) {
			known = append(known, at)
		}
		seen[at] = true
	}
	return results, l.remove(id, e, known)
}

// mayDelete says whether offsets of a topic may be deleted while the group is as it is.
func (e *entry) mayDelete(topic string) error {
	m := e.live.Machine()
	switch {
	case m.State() == group.Empty:
		return nil
	case !m.IsConsumer():
		return ErrNonEmptyGroup
	case m.Subscribes(topic):
		return ErrSubscribed
	}
	return nil
}

// DeleteTopic removes the offsets of a topic that was deleted from all groups of the slots that are served here, so that a topic of the same name
// begins without any. It returns when that is durable. Repeating it does no harm.
func (c *Coordinator) DeleteTopic(ctx context.Context, topic string, id uuid.UUID) error {
	var errs []error
	for _, led := range c.all() {
		rests, err := led.deleteTopic(topic, id)
		if err == nil {
			err = waitError(ctx, rests.Wait(ctx))
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l *leadership) deleteTopic(topic string, topicID uuid.UUID) (slot.Pending, error) {
	if err := l.enter(); err != nil {
		return slot.Pending{}, err
	}
	defer l.Unlock()
	for id, e := range l.groups {
		partitions := e.offsets.OfTopic(topic, topicID)
		if len(partitions) == 0 {
			continue
		}
		if err := l.remove(id, e, partitions); err != nil {
			return slot.Pending{}, err
		}
	}
	return l.Barrier(), nil
}

// remove removes offsets, and the group itself where nothing is left of it. The caller holds the lock.
func (l *leadership) remove(id string, e *entry, partitions []offset.Partition) error {
	if e.isVacant() && e.offsets.AreWithin(partitions) {
		return l.removeAll(id, e)
	}
	return l.removeOffsets(id, e, partitions)
}

// isVacant reports whether nobody is in the group, or about to be.
func (e *entry) isVacant() bool {
	m := e.live.Machine()
	return m.State() == group.Empty && !m.HasPending()
}
