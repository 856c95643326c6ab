package coordinator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// Marker tells a participant how a transaction ended.
type Marker struct {
	TransactionalID  string
	ProducerID       int64
	ProducerEpoch    int16 // above that of the producer when it was fenced
	Commit           bool
	CoordinatorEpoch int32
	// Identity orders the markers of a producer: a participant ignores one that is not above the last, so that a late or repeated marker never ends a
	// later transaction.
	Identity int64
}

// Delivery places markers in partitions, wherever they are led.
type Delivery interface {
	// Deliver places the marker in each partition, with one error for each: nil when it is durable there, or when nothing is left to mark, because that
	// incarnation of the topic is gone for good or an administrator has ended the transaction there. Partitions with an error are tried again. It
	// returns soon after ctx ended, and is called by many goroutines.
	Deliver(ctx context.Context, m Marker, to []TransactionPartition) []error
}

// The pause between attempts to place markers, and how long one attempt may take: a participant that hangs must not keep the others from being asked
// again.
const (
	firstRetry      = 50 * time.Millisecond
	lastRetry       = 5 * time.Second
	attemptDeadline = 30 * time.Second
)

// debts are the participants that still need a marker.
type debts struct {
	partitions []TransactionPartition
	slots      []int // of the groups
}

func (c *Coordinator) debtsOf(t txn.Transaction) debts {
	owed := debts{partitions: t.Partitions}
	for _, group := range t.Groups {
		if number := c.slotOf(group); !slices.Contains(owed.slots, number) {
			owed.slots = append(owed.slots, number)
		}
	}
	return owed
}

func (d debts) count() int { return len(d.partitions) + len(d.slots) }

// resume begins the delivery of every decision that a replay found. The caller holds the lock.
func (c *Coordinator) resume(led *leadership) {
	for id, t := range led.transactions {
		if t.State.IsDecided() {
			c.startDelivery(led, id, t.Transaction, t.rests)
		}
	}
}

// startDelivery begins to deliver a decision. The caller holds the lock of a slot that has not ended.
func (c *Coordinator) startDelivery(led *leadership, id string, decided txn.Transaction, rests slot.Pending) {
	led.deliveries.Go(func() { c.deliver(led.ctx, led, id, decided, rests) })
}

// deliver places the markers of a decision and then completes the transaction. It ends with the leadership: the next leader finds the decision.
func (c *Coordinator) deliver(ctx context.Context, led *leadership, id string, decided txn.Transaction, rests slot.Pending) {
	// Until it is durable, and was still owned there, it is no decision: another leader may have decided otherwise.
	if rests.Wait(ctx) != nil {
		return
	}
	m := Marker{
		TransactionalID: id, ProducerID: decided.Producer.ID, ProducerEpoch: decided.Producer.Epoch, Commit: decided.Commits(),
		CoordinatorEpoch: led.epoch, Identity: decided.Identity,
	}
	owed := c.debtsOf(decided)
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		var err error
		if owed, err = c.place(ctx, m, owed); owed.count() == 0 {
			if err = c.complete(led, id, decided); err == nil {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		if pause == lastRetry {
			c.log.Warn().Err(err).Str("transactional_id", id).Int("participants", owed.count()).Msg("transaction waits for its markers")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// place makes one attempt at every participant at once, and returns those that are left and one reason.
func (c *Coordinator) place(ctx context.Context, m Marker, owed debts) (debts, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptDeadline)
	defer cancel()
	inSlots := make([]error, len(owed.slots))
	var work sync.WaitGroup
	for i, number := range owed.slots {
		work.Go(func() { inSlots[i] = c.WriteOffsetMarker(ctx, number, m) })
	}
	inPartitions := c.placeInPartitions(ctx, m, owed.partitions)
	work.Wait()
	left := debts{partitions: failed(owed.partitions, inPartitions), slots: failed(owed.slots, inSlots)}
	return left, cmp.Or(slices.Concat(inPartitions, inSlots)...)
}

var (
	errNoDelivery = errors.New("nobody delivers markers")
	errNoAnswer   = errors.New("no answer about the marker")
)

func (c *Coordinator) placeInPartitions(ctx context.Context, m Marker, to []TransactionPartition) []error {
	switch {
	case len(to) == 0:
		return nil
	case c.options.Delivery == nil:
		return slices.Repeat([]error{errNoDelivery}, len(to))
	}
	errs := c.options.Delivery.Deliver(ctx, m, slices.Clone(to))
	for len(errs) < len(to) {
		errs = append(errs, errNoAnswer)
	}
	return errs
}

// failed returns the participants that did not answer well.
func failed[T any](participants []T, errs []error) []T {
	var left []T
	for i, p := range participants {
		if errs[i] != nil {
			left = append(left, p)
		}
	}
	return left
}

// complete ends a transaction whose markers are placed. Nobody waits for that: if it is lost, the markers are placed again, which changes nothing.
func (c *Coordinator) complete(led *leadership, id string, decided txn.Transaction) error {
	if err := led.enter(); err != nil {
		return err
	}
	defer led.Unlock()
	// A decision leaves its state here only, so that it is still what it was.
	step := decided.Complete(txn.Moment{Now: c.options.Clock.Wall(), Next: led.slot.Next()})
	_, err := c.storeTransaction(led, id, step.Next)
	return err
}
