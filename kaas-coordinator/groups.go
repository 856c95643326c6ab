package coordinator

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
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
