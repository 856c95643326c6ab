package api

// InitProducerId, key 22, v0-v4.
//
// Without a transactional id the client gets a new producer id with epoch 0. Ids are unique over processes and crashes; each block of
// them is taken by a durable, exclusive creation.
//
// Deviations: there is no transaction coordinator yet, so a transactional id is answered COORDINATOR_NOT_AVAILABLE. When no block can be taken Kafka
// answers COORDINATOR_LOAD_IN_PROGRESS; so do we, whatever the reason.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) initProducerID(ctx context.Context, r *protocol.Request, request *kmsg.InitProducerIDRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.InitProducerIDResponse](request)
	response.ProducerID, response.ProducerEpoch = -1, -1
	refused := h.refuseInitProducerID(r.Conn, request)
	if refused == nil {
		response.ProducerID, response.ProducerEpoch, refused = h.nextProducerID(ctx)
	}
	if refused != nil {
		response.ErrorCode = refused.Code
	}
	return response, nil
}

// nextProducerID gives an id with its first epoch, -1 for both when there is none.
func (h *Handlers) nextProducerID(ctx context.Context) (id int64, epoch int16, refused *kerr.Error) {
	id, err := h.producerIDs.Next(ctx)
	if err != nil {
		h.Logger.Warn().Err(err).Msg("no producer id could be taken")
		return -1, -1, kerr.CoordinatorLoadInProgress
	}
	return id, 0, nil
}

// refuseInitProducerID is nil for a client that is to get an id of its own.
func (h *Handlers) refuseInitProducerID(conn *protocol.Conn, request *kmsg.InitProducerIDRequest) *kerr.Error {
	switch id := request.TransactionalID; {
	case id != nil && !h.Authorizer.Authorize(conn, kmsg.ACLOperationWrite, kmsg.ACLResourceTypeTransactionalId, *id):
		return kerr.TransactionalIDAuthorizationFailed
	case id == nil && !h.mayCluster(conn, kmsg.ACLOperationIdempotentWrite):
		return kerr.ClusterAuthorizationFailed
	case (request.ProducerID == -1) != (request.ProducerEpoch == -1):
		return kerr.InvalidRequest
	case id == nil:
		return nil
	case *id == "":
		return kerr.InvalidRequest
	case !h.fitsTransaction(request.TransactionTimeoutMillis):
		return kerr.InvalidTransactionTimeout
	default:
		return kerr.CoordinatorNotAvailable
	}
}

// fitsTransaction compares a timeout with transaction.max.timeout.ms, which every broker can do.
func (h *Handlers) fitsTransaction(milliseconds int32) bool {
	largest, known := h.Config.Values.Lookup("transaction.max.timeout.ms")
	return milliseconds > 0 && (!known || int64(milliseconds) <= largest.Int64())
}
