package api

// AddOffsetsToTxn, key 25, v0-v3.
//
// From then on the producer may commit offsets for the group in its transaction. The answer comes when that is durable.
//
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) addOffsetsToTxn(ctx context.Context, r *protocol.Request, request *kmsg.AddOffsetsToTxnRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.AddOffsetsToTxnResponse](request)
	err := h.mayTransact(r.Conn, kmsg.ACLOperationWrite, request.TransactionalID)
	if err == nil {
		err = h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group)
	}
	if err == nil {
		producer := coordinator.Producer{ID: request.ProducerID, Epoch: request.ProducerEpoch}
		err = h.Transactions.AddOffsets(ctx, request.TransactionalID, producer, request.Group)
	}
	response.ErrorCode = codeOf(fencedFrom(knowsFenced, request.Version, err))
	return response, ctx.Err()
}
