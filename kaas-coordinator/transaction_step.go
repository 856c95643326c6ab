package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// markerPatience is how long a request waits for the markers of the last transaction. They are placed in moments, while a client that is told
// to come again lets 20 ms or more pass.
const markerPatience = 100 * time.Millisecond

// awaitMarkers returns when no markers are owed, or owed for too long to wait. What the request comes to is another question.
func (c *Coordinator) awaitMarkers(ctx context.Context, id string) error {
	id = normal(id)
	led, err := c.enter(id)
	if err != nil {
		return err
	}
	var complete chan struct{}
	if t := led.transactions[id]; t != nil {
		complete = t.complete
	}
	led.Unlock()
	if complete == nil {
		return nil
	}
	patience := time.NewTimer(markerPatience)
	defer patience.Stop()
	select {
	case <-complete:
	case <-patience.C:
	case <-led.ctx.Done():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// change is stepKnown for requests that would change something if no markers were owed.
func (c *Coordinator) change(ctx context.Context, id string, decide func(txn.Transaction, txn.Moment) txn.Step) error {
	if id == "" {
		return ErrInvalidTransactionRequest
	}
	if err := c.awaitMarkers(ctx, id); err != nil {
		return err
	}
	return c.stepKnown(ctx, id, decide)
}

// stepKnown is step for an id that somebody has registered under.
func (c *Coordinator) stepKnown(ctx context.Context, id string, decide func(txn.Transaction, txn.Moment) txn.Step) error {
	_, err := c.step(ctx, id, func(t txn.Transaction, known bool, at txn.Moment) txn.Step {
		if !known {
			return txn.Step{Refusal: ErrInvalidProducerIDMapping}
		}
		return decide(t, at)
	})
	return err
}

// step makes one step of a transaction and waits until the answer is certain. A refusal rests on the transaction as much as a grant: a coordinator that was
// replaced would fence the rightful producer.
func (c *Coordinator) step(
	ctx context.Context, id string, decide func(t txn.Transaction, known bool, at txn.Moment) txn.Step,
) (txn.Transaction, error) {
	id = normal(id)
	if id == "" {
		return txn.Transaction{}, ErrInvalidTransactionRequest
	}
	arrived := time.Now()
	led, err := c.enter(id)
	if err != nil {
		return txn.Transaction{}, err
	}
	t, rests := led.transaction(id)
	step := decide(t, t.Producer != txn.NoProducer(), txn.Moment{Now: c.options.Clock.Wall(), Next: led.slot.Next()})
	if step.Changed {
		rests, err = c.storeTransaction(led, id, step.Next)
	}
	led.Unlock()
	switch {
	case err != nil:
		return txn.Transaction{}, err
	case step.Changed:
		err = waitError(ctx, rests.Wait(ctx))
	default:
		err = settle(ctx, led, rests, arrived)
	}
	if err != nil {
		return txn.Transaction{}, err
	}
	return step.Next, step.Refusal
}

// transaction returns the transaction of an id, or a new one, and what an answer about it rests on. The caller holds the lock.
func (l *leadership) transaction(id string) (txn.Transaction, slot.Pending) {
	if t := l.transactions[id]; t != nil {
		return t.Transaction, t.rests
	}
	return txn.New(), l.Barrier()
}

// storeTransaction appends a transaction and then shows it. If it is decided, its markers are on their way as soon as that is durable. The caller holds the
// lock.
func (c *Coordinator) storeTransaction(led *leadership, id string, next txn.Transaction) (slot.Pending, error) {
	value, err := next.Encode()
	if err != nil {
		return slot.Pending{}, fmt.Errorf("encode transaction: %w", err)
	}
	rests, err := led.slot.Append(slot.Record{Key: slot.TransactionKey(id), Value: value})
	if err != nil {
		return slot.Pending{}, appendError(err)
	}
	before := led.transactions[id]
	if before != nil && before.complete != nil {
		close(before.complete)
	}
	known := newTransaction(next, rests)
	known.open = openSince(before, next)
	led.transactions[id] = known
	if next.State.IsDecided() {
		c.startDelivery(led, id, next, rests)
	}
	return rests, nil
}
