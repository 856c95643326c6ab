package api

// ListTransactions, key 66, v0 (KIP-664).
//
// The transactional ids that this broker coordinates, as far as the client may describe them. Names of states that do not exist come back.
//
// Deviations: while a slot loads there is no list (Kafka: the others beside COORDINATOR_LOAD_IN_PROGRESS), for tools take a transaction that nobody lists for one
// that hangs.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) listTransactions(ctx context.Context, r *protocol.Request, request *kmsg.ListTransactionsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.ListTransactionsResponse](request)
	response.UnknownStateFilters, response.TransactionStates = []string{}, []kmsg.ListTransactionsResponseTransactionState{}
	list, err := h.Transactions.ListTransactions(ctx, coordinator.TransactionFilter{States: once(request.StateFilters), ProducerIDs: request.ProducerIDFilters})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	response.UnknownStateFilters = append(response.UnknownStateFilters, list.UnknownStates...)
	for _, listed := range list.Transactions {
		if h.mayTransact(r.Conn, kmsg.ACLOperationDescribe, listed.ID) != nil {
			continue
		}
		row := kmsg.NewListTransactionsResponseTransactionState()
		row.TransactionalID, row.ProducerID, row.TransactionState = listed.ID, listed.ProducerID, listed.State.String()
		response.TransactionStates = append(response.TransactionStates, row)
	}
	return response, nil
}
