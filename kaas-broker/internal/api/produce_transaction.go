package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
)

// magicAt is where every record format has its version.
const magicAt = 16

func isTransactional(records []byte) bool {
	return len(records) >= batch.HeaderSize && records[magicAt] == 2 && batch.Batch(records).Transactional()
}

// verify asks about the batches that nobody knows to be part of the transaction they claim. The error is about the request as a whole.
func (c *produceCall) verify(ctx context.Context) error {
	id := c.request.TransactionID
	if id == nil {
		return kerr.TransactionalIDAuthorizationFailed
	}
	if err := c.handlers.mayTransact(c.conn, kmsg.ACLOperationWrite, *id); err != nil {
		return err
	}
	producer, unknown, err := c.unverified()
	if err == nil && len(unknown) > 0 {
		c.ask(ctx, *id, producer, unknown)
	}
	return err
}

// unverified lists the batches of the request's producer for partitions in which it has no transaction open. That is once for each partition and
// transaction: with what is appended then the transaction is open. The error is about the request as a whole.
func (c *produceCall) unverified() (coordinator.Producer, []*pendingAppend, error) {
	producer := coordinator.Producer{ID: batch.NoProducerID}
	var unknown []*pendingAppend
	for i := range c.appends {
		pending := &c.appends[i]
		b, is := pending.inTransaction()
		if !is {
			continue
		}
		if producer.ID >= 0 && b.ProducerID() != producer.ID {
			return producer, nil, fmt.Errorf("batches of transactions of more than one producer: %w", kerr.InvalidProducerIDMapping)
		}
		producer = coordinator.Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch()}
		if pending.err != nil {
			continue
		}
		verification, open := pending.partition.Verify(producer.ID, producer.Epoch)
		if !open {
			pending.verification = &verification
			unknown = append(unknown, pending)
		}
	}
	return producer, unknown, nil
}

// inTransaction returns the batch if its transaction has to be open. Without a producer id it belongs to none, whatever it claims.
func (p *pendingAppend) inTransaction() (batch.Batch, bool) {
	if p.topic == nil || !p.topic.Effective.VerifyTransactions || !isTransactional(p.sent.Records) {
		return nil, false
	}
	b := batch.Batch(p.sent.Records)
	return b, b.ProducerID() >= 0
}

// ask asks the coordinator of the transaction about all partitions at once.
func (c *produceCall) ask(ctx context.Context, id string, producer coordinator.Producer, unknown []*pendingAppend) {
	names := make([]coordinator.TransactionPartition, len(unknown))
	for i, pending := range unknown {
		names[i] = coordinator.TransactionPartition{Topic: pending.topic.Name, TopicID: pending.topic.ID, Partition: pending.sent.Partition}
	}
	results, err := c.handlers.Transactions.VerifyPartitions(ctx, id, producer, names)
	for i, pending := range unknown {
		pending.err = verificationError(errorAt(results, i, err))
		c.noteVerification(ctx, pending)
	}
}

func (c *produceCall) noteVerification(ctx context.Context, pending *pendingAppend) {
	result := "refused"
	switch {
	case pending.err == nil:
		result = "granted"
	case errors.Is(pending.err, kerr.NotEnoughReplicas):
		result = "later"
		pending.partition.NotVerified(batch.Batch(pending.sent.Records))
	}
	c.handlers.Verifications.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
}

// verificationError makes of an answer of the coordinator one that producers know, as Kafka does.
func verificationError(err error) error {
	switch {
	case errors.Is(err, coordinator.ErrProducerFenced):
		return fmt.Errorf("%w: %w", kerr.InvalidProducerEpoch, err)
	case errors.Is(err, coordinator.ErrConcurrentTransactions), errors.Is(err, coordinator.ErrLoading), errors.Is(err, coordinator.ErrNotCoordinator):
		return fmt.Errorf("%w: the transaction could not be verified: %w", kerr.NotEnoughReplicas, err)
	}
	return err
}
