package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// verified is what is known of a partition's part in the transaction of a request (KIP-890).
type verified struct {
	partition    *storage.Partition // the one that it is known of, and that the batch goes to; nil when there was none to ask about
	verification storage.Verification
	batch        batch.Batch
	err          error
}

// verify asks the coordinator about all partitions of a request in which the producer has no transaction open. That is once for each partition and
// transaction: with what is appended then the transaction is open. The error is about the request as a whole.
func (c *produceCall) verify(ctx context.Context, snapshot *catalog.Snapshot, last mentions) (map[partitionName]verified, error) {
	answers := map[partitionName]verified{}
	producer := coordinator.Producer{ID: batch.NoProducerID}
	var asked []coordinator.TransactionPartition
	for t := range c.request.Topics {
		wanted := &c.request.Topics[t]
		topic, known := snapshot.ByName(wanted.Topic)
		for i := range wanted.Partitions {
			partition := &wanted.Partitions[i]
			if !known || !topic.Effective.VerifyTransactions || !isTransactional(partition.Records) || last.repeated(wanted.Topic, partition) {
				continue
			}
			b := batch.Batch(partition.Records)
			if b.ProducerID() < 0 {
				continue // belongs to no transaction, whatever it claims
			}
			if producer.ID >= 0 && b.ProducerID() != producer.ID {
				return nil, fmt.Errorf("batches of transactions of more than one producer: %w", kerr.InvalidProducerIDMapping)
			}
			producer = coordinator.Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch()}
			p, err := c.writable(topic, partition)
			if err != nil {
				// Its takeover may end before the append, which nobody has verified.
				answers[partitionName{topic.Name, partition.Partition}] = verified{err: err}
				continue
			}
			// An open transaction is that of this leadership: the next one may have lost the batch that opened it, which nobody has verified there.
			answer := verified{partition: p, batch: b}
			verification, open := p.Verify(producer.ID, producer.Epoch)
			if !open {
				answer.verification = verification
				asked = append(asked, coordinator.TransactionPartition{Topic: topic.Name, TopicID: topic.ID, Partition: partition.Partition})
			}
			answers[partitionName{topic.Name, partition.Partition}] = answer
		}
	}
	c.ask(ctx, producer, asked, answers)
	return answers, nil
}

// ask fills in what the coordinator says.
func (c *produceCall) ask(ctx context.Context, producer coordinator.Producer, asked []coordinator.TransactionPartition, answers map[partitionName]verified) {
	if len(asked) == 0 {
		return
	}
	results, err := c.handlers.Transactions.VerifyPartitions(ctx, *c.request.TransactionID, producer, asked)
	for i, at := range asked {
		answer := answers[partitionName{at.Topic, at.Partition}]
		if answer.err = err; err == nil {
			answer.err = results[i]
		}
		answer.err = unverified(answer.err)
		c.noteVerification(ctx, answer)
		answers[partitionName{at.Topic, at.Partition}] = answer
	}
}

func (c *produceCall) noteVerification(ctx context.Context, v verified) {
	result := "refused"
	switch {
	case v.err == nil:
		result = "granted"
	case errors.Is(v.err, kerr.NotEnoughReplicas):
		result = "later"
		v.partition.NotVerified(v.batch)
	}
	c.handlers.Verifications.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
}

// unverified makes of an answer of the coordinator one that producers know, as Kafka does.
func unverified(err error) error {
	switch {
	case errors.Is(err, coordinator.ErrProducerFenced):
		return fmt.Errorf("%w: %w", kerr.InvalidProducerEpoch, err)
	case errors.Is(err, coordinator.ErrConcurrentTransactions), errors.Is(err, coordinator.ErrLoading), errors.Is(err, coordinator.ErrNotCoordinator):
		return fmt.Errorf("%w: the transaction could not be verified: %w", kerr.NotEnoughReplicas, err)
	}
	return err
}
