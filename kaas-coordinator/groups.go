package coordinator

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Describe is a DescribeGroups request for one group. One that is not there is Dead.
//
// Errors: ErrLoading, ErrNotCoordinator, and ctx's.
func (c *Coordinator) Describe(ctx context.Context, id string) (group.Description, error) {
	id = normal(id)
	d := group.Description{State: group.Dead}
	err := c.settled(ctx, id, time.Now(), func(led *leadership) {
		if e := led.groups[id]; e != nil {
			d = e.live.Machine().Describe()
		}
	})
	if err != nil {
		return group.Description{}, err
	}
	return d, nil
}

// Listed is one group of a list.
type Listed struct {
	ID           string
	ProtocolType string // empty for a group that only commits
	State        group.State
}

// List is a ListGroups request: all groups of the slots that are served here, sorted by id. Slots that are lost meanwhile or still load are left
// out: tools ask every broker and fail as a whole when one does. The error is ctx's.
func (c *Coordinator) List(ctx context.Context) ([]Listed, error) {
	arrived := time.Now()
	served := c.all()
	lists := make([][]Listed, len(served))
	var work sync.WaitGroup
	for i, led := range served {
		work.Go(func() { lists[i] = led.list(ctx, arrived) })
	}
	work.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Listed) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// list is empty for a slot that is lost meanwhile.
func (l *leadership) list(ctx context.Context, arrived time.Time) []Listed {
	var list []Listed
	err := l.settled(ctx, arrived, func() {
		for id, e := range l.groups {
			m := e.live.Machine()
			list = append(list, Listed{ID: id, ProtocolType: m.ProtocolType(), State: m.State()})
		}
	})
	if err != nil {
		return nil
	}
	return list
}

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
	records := e.offsets.Removal(id, e.offsets.All())
	if e.stored {
		records = append(records, slot.Record{Key: slot.GroupKey(id)})
	}
	if _, err := l.slot.Append(records...); err != nil {
		return appendError(err)
	}
	e.live.Close(group.ErrNotAvailable)
	delete(l.groups, id)
	return nil
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
