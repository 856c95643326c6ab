package api

// EndTxn, key 26, v0-v3.
//
// The answer comes when the decision is durable; readers of committed records see what was committed when the markers are placed, which follows at once. Until then
// the producer's next transaction is answered CONCURRENT_TRANSACTIONS.
//
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) endTxn(ctx context.Context, r *protocol.Request, request *kmsg.EndTxnRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.EndTxnResponse](request)
	err := h.mayTransact(r.Conn, kmsg.ACLOperationWrite, request.TransactionalID)
	if err == nil {
		producer := coordinator.Producer{ID: request.ProducerID, Epoch: request.ProducerEpoch}
		err = h.Transactions.EndTransaction(ctx, request.TransactionalID, producer, request.Commit)
	}
	response.ErrorCode = codeOf(fencedFrom(knowsFenced, request.Version, err))
	return response, ctx.Err()
}
