package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// Producer is one instance of a producer; see package txn.
type Producer = txn.Producer

// TransactionPartition names a partition that takes part in a transaction; see package txn.
type TransactionPartition = txn.Partition

// InitProducer is what a transactional producer registers with.
type InitProducer struct {
	Timeout time.Duration // after which its transactions are aborted
	// Producer is what the producer believes to be (KIP-360, v3 and above); -1 and -1 when it does not say.
	Producer Producer
}

// transaction is what a slot knows of a transactional id.
type transaction struct {
	txn.Transaction
	rests slot.Pending // its last append
	// complete is closed when the markers of a decision are placed; nil unless it is decided.
	complete chan struct{}
}

func newTransaction(t txn.Transaction, rests slot.Pending) *transaction {
	known := &transaction{Transaction: t, rests: rests}
	if t.State.IsDecided() {
		known.complete = make(chan struct{})
	}
	return known
}

// InitProducerID is an InitProducerId request of a transactional producer: it gets an epoch that fences every other instance of it. An open
// transaction is aborted first; meanwhile the answer is ErrConcurrentTransactions.
//
// Errors: ErrInvalidTransactionRequest, ErrInvalidTransactionTimeout, ErrLoading, ErrNotCoordinator, ErrProducerFenced, ErrConcurrentTransactions,
// group.ErrNotAvailable when there is no room or no producer id, and ctx's.
func (c *Coordinator) InitProducerID(ctx context.Context, id string, r InitProducer) (Producer, error) {
	switch {
	case id == "", (r.Producer.ID == -1) != (r.Producer.Epoch == -1):
		return txn.NoProducer(), ErrInvalidTransactionRequest
	case r.Timeout <= 0 || r.Timeout > c.options.Transactions.MaxTimeout:
		return txn.NoProducer(), ErrInvalidTransactionTimeout
	}
	if err := c.awaitMarkers(ctx, id); err != nil {
		return txn.NoProducer(), err
	}
	fresh := int64(-1)
	for {
		t, err := c.step(ctx, id, func(t txn.Transaction, known bool, at txn.Moment) txn.Step {
			if !known {
				t = txn.New()
			}
			return t.Register(txn.Registration{Timeout: r.Timeout, Expected: r.Producer}, fresh, at)
		})
		switch {
		case err == nil:
			return t.Producer, nil
		case !errors.Is(err, txn.ErrProducerIDNeeded):
			return txn.NoProducer(), err
		}
		// It may have to ask the disk, which nobody does under a slot's lock.
		if fresh, err = c.nextProducerID(ctx); err != nil {
			return txn.NoProducer(), err
		}
	}
}

var errNoProducerIDs = errors.New("nobody gives out producer ids")

func (c *Coordinator) nextProducerID(ctx context.Context) (int64, error) {
	if c.options.ProducerIDs == nil {
		return -1, fmt.Errorf("%w: %w", group.ErrNotAvailable, errNoProducerIDs)
	}
	id, err := c.options.ProducerIDs.Next(ctx)
	switch {
	case err == nil && id >= 0:
		return id, nil
	case err == nil:
		err = errNoProducerIDs
	case ctx.Err() != nil:
		return -1, context.Cause(ctx)
	}
	return -1, fmt.Errorf("%w: next producer id: %w", group.ErrNotAvailable, err)
}

// AddPartitions is an AddPartitionsToTxn request: the partitions take part in the producer's transaction, which begins if there is none. It returns
// when that is durable: from then on they get a marker.
//
// Errors: ErrInvalidTransactionRequest, ErrLoading, ErrNotCoordinator, ErrInvalidProducerIDMapping, ErrProducerFenced, ErrConcurrentTransactions,
// group.ErrNotAvailable when there is no room, and ctx's.
func (c *Coordinator) AddPartitions(ctx context.Context, id string, p Producer, partitions []TransactionPartition) error {
	return c.change(ctx, id, func(t txn.Transaction, at txn.Moment) txn.Step { return t.Add(p, partitions, nil, at) })
}

// AddOffsets is an AddOffsetsToTxn request: offsets of the group may be committed in the producer's transaction. The rest is as for AddPartitions.
func (c *Coordinator) AddOffsets(ctx context.Context, id string, p Producer, groupID string) error {
	groups := []string{normal(groupID)}
	return c.change(ctx, id, func(t txn.Transaction, at txn.Moment) txn.Step { return t.Add(p, nil, groups, at) })
}

// EndTransaction is an EndTxn request. It returns when the decision is durable and this process still owned the slot then: from then on nothing
// but the decided outcome can come. The markers are placed afterwards; until they are, the next transaction waits a moment and then meets
// ErrConcurrentTransactions.
//
// Errors: ErrInvalidTransactionRequest, ErrLoading, ErrNotCoordinator, ErrInvalidProducerIDMapping, ErrProducerFenced, ErrConcurrentTransactions,
// ErrInvalidTransactionState, group.ErrNotAvailable when there is no room, and ctx's.
func (c *Coordinator) EndTransaction(ctx context.Context, id string, p Producer, commit bool) error {
	return c.change(ctx, id, func(t txn.Transaction, at txn.Moment) txn.Step { return t.End(p, commit, at) })
}

// VerifyPartitions is an AddPartitionsToTxn request that only asks (v4, KIP-890): the results are one error for each partition, nil or
// ErrInvalidTransactionState. The slot's claim was checked after the call began. A marker of the producer that reaches the partition meanwhile makes
// the answer void.
//
// Errors: ErrInvalidTransactionRequest, ErrLoading, ErrNotCoordinator, ErrInvalidProducerIDMapping, ErrProducerFenced, ErrConcurrentTransactions, and
// ctx's.
func (c *Coordinator) VerifyPartitions(ctx context.Context, id string, p Producer, partitions []TransactionPartition) ([]error, error) {
	var results []error
	err := c.stepKnown(ctx, id, func(t txn.Transaction, _ txn.Moment) txn.Step {
		var refusal error
		results, refusal = t.Verify(p, partitions)
		return txn.Step{Next: t, Refusal: refusal}
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

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
	step := decide(t, t.Producer != txn.NoProducer(), txn.Moment{Now: arrived, Next: led.slot.Next()})
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
	if before := led.transactions[id]; before != nil && before.complete != nil {
		close(before.complete)
	}
	led.transactions[id] = newTransaction(next, rests)
	if next.State.IsDecided() {
		c.startDelivery(led, id, next, rests)
	}
	return rests, nil
}

// applyTransaction takes a transaction record of a replay.
func (r *replayed) applyTransaction(id string, value []byte) error {
	if value == nil {
		delete(r.transactions, id)
		return nil
	}
	t, err := txn.Decode(value)
	if err != nil {
		return err
	}
	r.transactions[id] = newTransaction(t, slot.Pending{})
	return nil
}
