package api

// InitProducerId, key 22, v0-v4 (KIP-360: from v3 on a producer may say who it was).
//
// Without a transactional id the client gets a new producer id with epoch 0. Ids are unique over processes and crashes; each block of
// them is taken by a durable, exclusive creation. With one it gets an epoch that fences every other producer of that transactional id, durably.
//
// Deviations: when no block can be taken Kafka answers COORDINATOR_LOAD_IN_PROGRESS; so do we, whatever the reason, but COORDINATOR_NOT_AVAILABLE with a
// transactional id. Clients ask again after both.

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// initKnowsFenced is the first version of InitProducerId whose clients know PRODUCER_FENCED.
const initKnowsFenced = 4

func (h *Handlers) initProducerID(ctx context.Context, r *protocol.Request, request *kmsg.InitProducerIDRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.InitProducerIDResponse](request)
	var producer coordinator.Producer
	err := h.refuseInitProducerID(r.Conn, request)
	switch {
	case err != nil:
	case request.TransactionalID == nil:
		producer.ID, err = h.nextProducerID(ctx)
	default:
		producer, err = h.Transactions.InitProducerID(ctx, *request.TransactionalID, coordinator.InitProducer{
			Timeout:  time.Duration(request.TransactionTimeoutMillis) * time.Millisecond,
			Producer: coordinator.Producer{ID: request.ProducerID, Epoch: request.ProducerEpoch},
		})
	}
	response.ProducerID, response.ProducerEpoch = producer.ID, producer.Epoch
	if err != nil {
		response.ProducerID, response.ProducerEpoch = -1, -1
		response.ErrorCode = codeOf(fencedFrom(initKnowsFenced, request.Version, err))
	}
	return response, ctx.Err()
}

func (h *Handlers) nextProducerID(ctx context.Context) (int64, error) {
	id, err := h.ProducerIDs.Next(ctx)
	if err != nil {
		h.Logger.Warn().Err(err).Msg("no producer id could be taken")
		return -1, kerr.CoordinatorLoadInProgress
	}
	return id, nil
}

// refuseInitProducerID is nil for a client that is to get a producer id.
func (h *Handlers) refuseInitProducerID(conn *protocol.Conn, request *kmsg.InitProducerIDRequest) error {
	id := request.TransactionalID
	switch {
	case id == nil && !h.mayCluster(conn, kmsg.ACLOperationIdempotentWrite):
		return kerr.ClusterAuthorizationFailed
	case id != nil && h.mayTransact(conn, kmsg.ACLOperationWrite, *id) != nil:
		return kerr.TransactionalIDAuthorizationFailed
	case (request.ProducerID == -1) != (request.ProducerEpoch == -1):
		return kerr.InvalidRequest
	}
	return nil
}
