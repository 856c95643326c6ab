package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/internal/api"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func (b *Broker) transactions() coordinator.TransactionOptions {
	c := b.config.Transactions
	return coordinator.TransactionOptions{
		MaxTimeout:       c.MaxTimeout,
		ReapInterval:     c.CheckInterval,
		IDExpiry:         c.IDExpiration,
		IDReapInterval:   c.IDCheckInterval,
		ProducerExpiry:   b.config.ProducerIDExpiration,
		SkipVerification: !c.Verify,
	}
}

func (b *Broker) delivery() coordinator.Delivery {
	d := delivery{b.catalog, b.partitions, b.meters, b.log}
	if wrap := b.options.WrapDelivery; wrap != nil {
		return wrap(d)
	}
	return d
}

// delivery places the markers of transactions in the partitions that this broker leads.
type delivery struct {
	catalog    *catalog.Catalog
	partitions api.Partitions
	meters     *meters
	log        zerolog.Logger
}

// Deliver appends all markers before it waits for the first: partitions sync side by side.
func (d delivery) Deliver(ctx context.Context, m coordinator.Marker, to []coordinator.TransactionPartition) []error {
	snapshot := d.catalog.Snapshot()
	errs := make([]error, len(to))
	tickets := make([]*storage.Ticket, len(to))
	for i, at := range to {
		tickets[i], errs[i] = d.mark(snapshot, m, at)
	}
	for i, ticket := range tickets {
		if ticket != nil {
			errs[i] = ticket.WaitDurable(ctx)
		}
	}
	d.meters.delivered(ctx, m.Commit, errs)
	return errs
}

// mark begins to place one marker. There is no ticket when there is nothing left to mark.
func (d delivery) mark(snapshot *catalog.Snapshot, m coordinator.Marker, at coordinator.TransactionPartition) (*storage.Ticket, error) {
	topic, known := snapshot.ByID(at.TopicID)
	if !known {
		return nil, nil // deleted: the catalog shows every topic that is not, from before the first slot is served
	}
	p, err := d.partitions.Partition(topic, at.Partition)
	if err != nil {
		return nil, fmt.Errorf("partition %s-%d: %w", topic.Name, at.Partition, err)
	}
	ticket, err := p.AppendMarker(storage.MarkerAppend{
		ProducerID: m.ProducerID, Epoch: m.ProducerEpoch,
		Marker: batch.Marker{Commit: m.Commit, CoordinatorEpoch: m.CoordinatorEpoch, Identity: m.Identity, HasIdentity: true},
	})
	switch {
	case err == nil:
		return &ticket, nil
	case errors.Is(err, storage.ErrProducerEpoch) && !isOpen(p, m.ProducerID):
		// An administrator has ended the transaction with a later epoch. The marker would be refused for ever.
		d.log.Warn().Err(err).Str("transactional_id", m.TransactionalID).Str("topic", topic.Name).Int32("partition", at.Partition).
			Msg("transaction had been ended by an administrator")
		return nil, nil
	}
	return nil, fmt.Errorf("partition %s-%d: %w", topic.Name, at.Partition, err)
}

// isOpen reports whether a producer has a transaction open in a partition.
func isOpen(p *storage.Partition, producerID int64) bool {
	state, found := p.Producer(producerID)
	return found && state.TransactionStart >= 0
}
