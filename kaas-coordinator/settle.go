package coordinator

import (
	"context"
	"strings"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// How a request gets at its slot, and how its answer becomes certain.

// normal returns an id or a text of a client as it is stored. Kafka, too, reads bytes that are no UTF-8 as the replacement character.
func normal(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// groupID returns the id of a group that must have a name, as it is stored.
func groupID(id string) (string, error) {
	if id = normal(id); id == "" {
		return "", ErrInvalidGroupID
	}
	return id, nil
}

func (c *Coordinator) slotOf(id string) int { return slot.Of(id, len(c.seats)) }

func (c *Coordinator) find(id string) (*leadership, error) { return c.findSlot(c.slotOf(id)) }

func (c *Coordinator) findSlot(number int) (*leadership, error) {
	s := c.seats[number].Load()
	switch {
	case s == nil || s.failure != nil:
		return nil, ErrNotCoordinator
	case s.led == nil:
		return nil, ErrLoading
	}
	return s.led, nil
}

// enter finds the slot of a group or transactional id and takes its lock. The caller leaves it by Unlock.
func (c *Coordinator) enter(id string) (*leadership, error) { return c.enterSlot(c.slotOf(id)) }

// enterGroup is enter for a request about a group that must have a name. It returns the id as it is stored.
func (c *Coordinator) enterGroup(id string) (string, *leadership, error) {
	id, err := groupID(id)
	if err != nil {
		return "", nil, err
	}
	led, err := c.enter(id)
	return id, led, err
}

func (c *Coordinator) enterSlot(number int) (*leadership, error) {
	led, err := c.findSlot(number)
	if err != nil {
		return nil, err
	}
	if err := led.enter(); err != nil {
		return nil, err
	}
	return led, nil
}

// all returns the slots that are served.
func (c *Coordinator) all() []*leadership {
	var served []*leadership
	for i := range c.seats {
		if s := c.seats[i].Load(); s != nil && s.led != nil {
			served = append(served, s.led)
		}
	}
	return served
}

// settled does work in the slot of a group, and returns when what it saw and appended there is certain.
func (c *Coordinator) settled(ctx context.Context, id string, notBefore time.Time, work func(*leadership)) error {
	led, err := c.find(id)
	if err != nil {
		return err
	}
	return led.settled(ctx, notBefore, func() { work(led) })
}

// settled does work under the slot's lock, and returns when what it saw and appended is certain.
func (l *leadership) settled(ctx context.Context, notBefore time.Time, work func()) error {
	if err := l.enter(); err != nil {
		return err
	}
	work()
	rests := l.Barrier()
	l.Unlock()
	return settle(ctx, l, rests, notBefore)
}

// settle waits until an answer is certain: what it rests on is durable, and the claim was checked at or after notBefore.
func settle(ctx context.Context, led *leadership, rests slot.Pending, notBefore time.Time) error {
	if err := rests.Wait(ctx); err != nil {
		return waitError(ctx, err)
	}
	return waitError(ctx, led.slot.Confirm(ctx, notBefore))
}
