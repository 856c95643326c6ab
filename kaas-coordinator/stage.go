package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// StageRequest is what a transaction will commit for a group.
type StageRequest struct {
	TransactionalID string
	Producer        Producer
	Identity        group.Identity // of the consumer (KIP-447); generation -1 without a member id: nobody in particular
	Offsets         []CommitOffset
}

// StageOffsets is a TxnOffsetCommit request: the offsets become the group's when the transaction commits, save for partitions that a plain commit came to
// later. It returns when that is durable. The first offsets of a producer are taken only if its transaction, as its coordinator knows it, is open and
// has the group. The results are as for Commit.
//
// Errors: ErrInvalidGroupID, ErrLoading, ErrNotCoordinator, those of package group for commits, ErrInvalidProducerEpoch, ErrInvalidTransactionState,
// ErrInvalidProducerIDMapping, ErrInvalidTransactionRequest, group.ErrNotAvailable when the transaction's coordinator cannot say or there is no
// room, and ctx's.
func (c *Coordinator) StageOffsets(ctx context.Context, id string, r StageRequest) ([]error, error) {
	arrived := time.Now()
	id, led, err := c.enterGroup(id)
	if err != nil {
		return nil, err
	}
	if !c.options.Transactions.SkipVerification && !led.isStaging(id, r.Producer) {
		last := led.lastMarker(r.Producer.ID)
		led.Unlock()
		if err := c.verifyGroup(ctx, id, r); err != nil {
			return nil, err
		}
		if err := led.enter(); err != nil {
			return nil, err
		}
		// The marker ended the transaction that was asked about, or a later one: what would be staged now, nobody would ever end.
		if led.lastMarker(r.Producer.ID) != last {
			led.Unlock()
			return nil, ErrInvalidTransactionState
		}
	}
	answer, err := c.stage(led, id, r, arrived)
	led.Unlock()
	if err != nil {
		return nil, err
	}
	return answer.settle(ctx, led, arrived)
}

// isStaging reports whether the producer is known to have an open transaction here. The caller holds the lock.
func (l *leadership) isStaging(id string, p Producer) bool {
	e := l.groups[id]
	if e == nil {
		return false
	}
	epoch, found := e.staging[p.ID]
	return found && epoch == p.Epoch
}

// verifyGroup asks the transaction's slot. Its answers become those that a consumer knows, as in Kafka.
func (c *Coordinator) verifyGroup(ctx context.Context, id string, r StageRequest) error {
	err := c.stepKnown(ctx, r.TransactionalID, func(t txn.Transaction, _ txn.Moment) txn.Step {
		return txn.Step{Next: t, Refusal: t.VerifyGroup(r.Producer, id)}
	})
	switch {
	case errors.Is(err, ErrProducerFenced):
		return fmt.Errorf("%w: %w", ErrInvalidProducerEpoch, err)
	case errors.Is(err, ErrConcurrentTransactions), errors.Is(err, ErrLoading), errors.Is(err, ErrNotCoordinator):
		return fmt.Errorf("%w: transaction: %w", group.ErrNotAvailable, err)
	}
	return err
}

// stage appends what can be taken. The caller holds the lock.
func (c *Coordinator) stage(led *leadership, id string, r StageRequest, now time.Time) (committed, error) {
	answer, accepted := c.judge(led, id, r.Identity, true, r.Offsets)
	if len(accepted) == 0 {
		return answer, nil
	}
	values, records := led.encode(accepted, -1, now, func(at offset.Partition) slot.Key {
		return slot.PendingKey(id, r.Producer.ID, at.Topic, at.Partition)
	})
	rests, err := led.slot.Append(records...)
	if err != nil {
		return answer, appendError(err)
	}
	e := led.group(id)
	for i, o := range accepted {
		e.offsets.Stage(r.Producer.ID, o.Partition, values[i])
	}
	if e.staging == nil {
		e.staging = make(map[int64]int16)
	}
	e.staging[r.Producer.ID] = r.Producer.Epoch
	answer.rests, answer.appended = rests, true
	return answer, nil
}
