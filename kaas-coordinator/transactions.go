package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
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
