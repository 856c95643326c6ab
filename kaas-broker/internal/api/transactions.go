package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// Transactions coordinates the transactional ids of this broker's slots. See coordinator.Coordinator for the errors.
type Transactions interface {
	Status(id string) error
	InitProducerID(ctx context.Context, id string, r coordinator.InitProducer) (coordinator.Producer, error)
	AddPartitions(ctx context.Context, id string, p coordinator.Producer, partitions []coordinator.TransactionPartition) error
	VerifyPartitions(ctx context.Context, id string, p coordinator.Producer, partitions []coordinator.TransactionPartition) ([]error, error)
	AddOffsets(ctx context.Context, id string, p coordinator.Producer, group string) error
	StageOffsets(ctx context.Context, group string, r coordinator.StageRequest) ([]error, error)
	EndTransaction(ctx context.Context, id string, p coordinator.Producer, commit bool) error
	DescribeTransaction(ctx context.Context, id string) (coordinator.TransactionDescription, error)
	ListTransactions(ctx context.Context, f coordinator.TransactionFilter) (coordinator.TransactionList, error)
}

// ProducerIDs gives out producer ids that nobody else ever gets, such as producerids.Allocator.
type ProducerIDs interface {
	Next(ctx context.Context) (int64, error)
}

// mayTransact is TRANSACTIONAL_ID_AUTHORIZATION_FAILED for a client that may not do operation on a transactional id, existing or not.
func (h *Handlers) mayTransact(conn *protocol.Conn, operation kmsg.ACLOperation, id string) error {
	if !h.Authorizer.Authorize(conn, operation, kmsg.ACLResourceTypeTransactionalId, id) {
		return kerr.TransactionalIDAuthorizationFailed
	}
	return nil
}

// knowsFenced is the first version of the requests of transactions whose clients know PRODUCER_FENCED, but for InitProducerId's.
const knowsFenced = 2

// fencedFrom returns the error, for clients below the version since the one that they know in place of PRODUCER_FENCED.
func fencedFrom(since, version int16, err error) error {
	if version < since && errors.Is(err, coordinator.ErrProducerFenced) {
		return kerr.InvalidProducerEpoch
	}
	return err
}
