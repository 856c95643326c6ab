package coordinator

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
)

// heartbeatGrace is how old the check of the claim may be that a heartbeat is answered with.
const heartbeatGrace = time.Second

// Join is a JoinGroup request. It returns when the rebalance completes, with an error that is also the result's; the member id is worth sending
// even then.
//
// Errors: ErrInvalidGroupID, ErrLoading, ErrNotCoordinator, those of package group for joins, and ctx's.
func (c *Coordinator) Join(ctx context.Context, id string, r group.JoinRequest) (group.JoinResult, error) {
	memberID := r.MemberID // of all that was asked, this alone is kept while the answer is waited for
	led, parked, err := c.join(id, r)
	var result group.JoinResult
	if err == nil {
		result, err = await(ctx, led, parked, r.Kept)
	}
	if err != nil {
		return group.JoinResult{Err: err, MemberID: memberID, Generation: -1}, err
	}
	return result, result.Err
}

// await gives the request back and waits until its answer is made and certain.
func await[T any](ctx context.Context, led *leadership, parked *group.Parked[T], kept func()) (T, error) {
	if kept != nil {
		kept()
	}
	answer, err := parked.Wait(ctx)
	if err == nil {
		err = settle(ctx, led, answer.Rests, answer.At)
	}
	return answer.Result, err
}

func (c *Coordinator) join(id string, r group.JoinRequest) (*leadership, *group.Parked[group.JoinResult], error) {
	id, led, err := c.enterGroup(id)
	if err != nil {
		return nil, nil, err
	}
	defer led.Unlock()
	if err := led.config.CheckSessionTimeout(r.SessionTimeout); err != nil {
		return nil, nil, err
	}
	// Somebody who says that it is a member of a group that is not there must not make it.
	if led.groups[id] == nil && r.MemberID != "" {
		return nil, nil, group.ErrUnknownMember
	}
	return led, led.group(id).live.Join(r), nil
}

// Sync is a SyncGroup request. It returns when the leader has assigned, with an error that is also the result's. While the slot loads, the
// error is group.ErrRebalancing: what went on is lost and begins anew with a join, which older clients understand.
//
// Errors: ErrInvalidGroupID, ErrNotCoordinator, those of package group for syncs, and ctx's.
func (c *Coordinator) Sync(ctx context.Context, id string, r group.SyncRequest) (group.SyncResult, error) {
	led, parked, err := c.sync(id, r)
	if errors.Is(err, ErrLoading) {
		err = group.ErrRebalancing
	}
	var result group.SyncResult
	if err == nil {
		result, err = await(ctx, led, parked, r.Kept)
	}
	if err != nil {
		return group.SyncResult{Err: err}, err
	}
	return result, result.Err
}

func (c *Coordinator) sync(id string, r group.SyncRequest) (*leadership, *group.Parked[group.SyncResult], error) {
	if err := r.CheckProtocol(); err != nil {
		return nil, nil, err
	}
	id, led, err := c.enterGroup(id)
	if err != nil {
		return nil, nil, err
	}
	defer led.Unlock()
	e := led.groups[id]
	if e == nil {
		return nil, nil, group.ErrUnknownMember
	}
	return led, e.live.Sync(r), nil
}

// Heartbeat is a Heartbeat request. While the slot loads it is taken: the members' sessions begin anew with the slot.
//
// Errors: ErrInvalidGroupID, ErrNotCoordinator, those of package group for heartbeats, and ctx's.
func (c *Coordinator) Heartbeat(ctx context.Context, id string, member group.Identity) error {
	id, err := groupID(id)
	if err != nil {
		return err
	}
	answer := group.ErrUnknownMember
	err = c.settled(ctx, id, time.Now().Add(-heartbeatGrace), func(led *leadership) {
		if e := led.groups[id]; e != nil {
			answer = e.live.Heartbeat(member)
		}
	})
	switch {
	case errors.Is(err, ErrLoading):
		return nil
	case err != nil:
		return err
	}
	return answer
}

// Leave is a LeaveGroup request. The results are one error for each member, nil for those who left. In a group that is not there nobody is known.
//
// Errors: ErrInvalidGroupID, ErrLoading, ErrNotCoordinator, and ctx's.
func (c *Coordinator) Leave(ctx context.Context, id string, members []group.LeaveRequest) ([]error, error) {
	id, err := groupID(id)
	if err != nil {
		return nil, err
	}
	var results []error
	if err := c.settled(ctx, id, time.Now(), func(led *leadership) { results = led.leave(id, members) }); err != nil {
		return nil, err
	}
	return results, nil
}

func (l *leadership) leave(id string, members []group.LeaveRequest) []error {
	if e := l.groups[id]; e != nil {
		return e.live.Leave(members)
	}
	return slices.Repeat([]error{group.ErrUnknownMember}, len(members))
}
