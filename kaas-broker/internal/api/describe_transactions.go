package api

// DescribeTransactions, key 65, v0 (KIP-664).
//
// Of the partitions those are told that the client may describe.
//
// Deviations: the groups of a transaction are not shown as partitions of __consumer_offsets, which does not exist here. Partitions are in order. INVALID_REQUEST for
// those that have no room in an answer of 64 MiB.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) describeTransactions(ctx context.Context, r *protocol.Request, request *kmsg.DescribeTransactionsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeTransactionsResponse](request)
	room := roomFor(r)
	defer room.fit()
	response.TransactionStates = make([]kmsg.DescribeTransactionsResponseTransactionState, len(request.TransactionalIDs))
	inParallel(len(request.TransactionalIDs), func(i int) {
		response.TransactionStates[i] = h.describeTransaction(ctx, r.Conn, room, request.TransactionalIDs[i])
	})
	return response, ctx.Err()
}

func (h *Handlers) describeTransaction(
	ctx context.Context, conn *protocol.Conn, room *answerRoom, id string,
) kmsg.DescribeTransactionsResponseTransactionState {
	row := kmsg.NewDescribeTransactionsResponseTransactionState()
	row.TransactionalID, row.Topics = id, []kmsg.DescribeTransactionsResponseTransactionStateTopic{}
	described := coordinator.TransactionDescription{}
	err := h.mayTransact(conn, kmsg.ACLOperationDescribe, id)
	if err == nil {
		err = room.left()
	}
	if err == nil {
		described, err = h.Transactions.DescribeTransaction(ctx, id)
	}
	if err == nil {
		err = room.take(ctx, sizeOfTransaction(id, described))
	}
	if err != nil {
		row.ErrorCode = codeOf(err)
		return row
	}
	row.State, row.TimeoutMillis, row.StartTimestamp = described.State.String(), int32(described.Timeout.Milliseconds()), described.Start
	row.ProducerID, row.ProducerEpoch = described.Producer.ID, described.Producer.Epoch
	for _, p := range described.Partitions {
		if last := len(row.Topics) - 1; last >= 0 && row.Topics[last].Topic == p.Topic {
			row.Topics[last].Partitions = append(row.Topics[last].Partitions, p.Partition)
		} else if h.mayTopic(conn, kmsg.ACLOperationDescribe, p.Topic) {
			row.Topics = append(row.Topics, kmsg.DescribeTransactionsResponseTransactionStateTopic{Topic: p.Topic, Partitions: []int32{p.Partition}})
		}
	}
	return row
}

// sizeOfTransaction is about what a transaction takes in the answer.
func sizeOfTransaction(id string, described coordinator.TransactionDescription) int {
	size := rowBytes + len(id)
	for _, p := range described.Partitions {
		size += rowBytes + len(p.Topic)
	}
	return size
}
