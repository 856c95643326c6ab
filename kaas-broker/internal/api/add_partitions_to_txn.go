package api

// AddPartitionsToTxn, key 24, v0-v4 (KIP-890: several transactions, and questions that change nothing, from v4).
//
// v0-v3 come from producers, v4 from other brokers: it needs CLUSTER_ACTION, and asks about no other right. If one partition is refused, none is added: the
// others answer OPERATION_NOT_ATTEMPTED. The answer comes when the partitions are durably part of the transaction.
//
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// addBetweenBrokers is the first version of AddPartitionsToTxn that brokers send to each other.
const addBetweenBrokers = 4

// addedPartition is one partition of a request.
type addedPartition struct {
	coordinator.TransactionPartition
	err error
}

func (h *Handlers) addPartitionsToTxn(ctx context.Context, r *protocol.Request, request *kmsg.AddPartitionsToTxnRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.AddPartitionsToTxnResponse](request)
	if request.Version >= addBetweenBrokers {
		h.addForBrokers(ctx, r.Conn, request, response)
		return response, ctx.Err()
	}
	one := kmsg.AddPartitionsToTxnRequestTransaction{
		TransactionalID: request.TransactionalID, ProducerID: request.ProducerID, ProducerEpoch: request.ProducerEpoch,
	}
	for _, topic := range request.Topics {
		one.Topics = append(one.Topics, kmsg.AddPartitionsToTxnRequestTransactionTopic(topic))
	}
	for _, topic := range h.addToTransaction(ctx, r.Conn, &one, request.Version) {
		answer := kmsg.AddPartitionsToTxnResponseTopic{Topic: topic.Topic}
		for _, partition := range topic.Partitions {
			answer.Partitions = append(answer.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition(partition))
		}
		response.Topics = append(response.Topics, answer)
	}
	return response, ctx.Err()
}

func (h *Handlers) addForBrokers(ctx context.Context, conn *protocol.Conn, request *kmsg.AddPartitionsToTxnRequest, response *kmsg.AddPartitionsToTxnResponse) {
	if !h.mayCluster(conn, kmsg.ACLOperationClusterAction) {
		response.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		return
	}
	response.Transactions = make([]kmsg.AddPartitionsToTxnResponseTransaction, len(request.Transactions))
	inParallel(len(request.Transactions), func(i int) {
		wanted := &request.Transactions[i]
		response.Transactions[i].TransactionalID = wanted.TransactionalID
		response.Transactions[i].Topics = h.addToTransaction(ctx, conn, wanted, request.Version)
	})
}

// addToTransaction adds the partitions of one transaction, or asks about them, and answers each.
func (h *Handlers) addToTransaction(
	ctx context.Context, conn *protocol.Conn, wanted *kmsg.AddPartitionsToTxnRequestTransaction, version int16,
) []kmsg.AddPartitionsToTxnResponseTransactionTopic {
	fromProducer := version < addBetweenBrokers
	var refused error
	if fromProducer {
		refused = h.mayTransact(conn, kmsg.ACLOperationWrite, wanted.TransactionalID)
	}
	partitions, whole := h.partitionsToAdd(conn, wanted, fromProducer)
	switch {
	case refused != nil:
		setEach(partitions, refused)
	case !whole:
		for i := range partitions {
			if partitions[i].err == nil {
				partitions[i].err = kerr.OperationNotAttempted
			}
		}
	default:
		h.addOrVerify(ctx, wanted, partitions, version)
	}
	return addedRows(wanted, partitions)
}

func setEach(partitions []addedPartition, err error) {
	for i := range partitions {
		partitions[i].err = err
	}
}

func (h *Handlers) addOrVerify(ctx context.Context, wanted *kmsg.AddPartitionsToTxnRequestTransaction, partitions []addedPartition, version int16) {
	producer := coordinator.Producer{ID: wanted.ProducerID, Epoch: wanted.ProducerEpoch}
	names := make([]coordinator.TransactionPartition, len(partitions))
	for i := range partitions {
		names[i] = partitions[i].TransactionPartition
	}
	if !wanted.VerifyOnly {
		err := h.Transactions.AddPartitions(ctx, wanted.TransactionalID, producer, once(names))
		setEach(partitions, fencedFrom(knowsFenced, version, err))
		return
	}
	results, err := h.Transactions.VerifyPartitions(ctx, wanted.TransactionalID, producer, names)
	for i := range partitions {
		partitions[i].err = errorAt(results, i, err)
	}
}

// partitionsToAdd finds the partitions of a request in its order. whole says that each may be added.
func (h *Handlers) partitionsToAdd(conn *protocol.Conn, wanted *kmsg.AddPartitionsToTxnRequestTransaction, fromProducer bool) (all []addedPartition, whole bool) {
	snapshot := h.Catalog.Snapshot()
	whole = true
	for _, asked := range wanted.Topics {
		topic, known := snapshot.ByName(asked.Topic)
		var err error
		if fromProducer && (catalog.IsInternal(asked.Topic) || !h.mayTopic(conn, kmsg.ACLOperationWrite, asked.Topic)) {
			err = kerr.TopicAuthorizationFailed
		}
		for _, index := range asked.Partitions {
			partition := addedPartition{err: err}
			partition.Topic, partition.Partition = asked.Topic, index
			switch {
			case err != nil:
			case !known || !topic.HasPartition(index):
				partition.err = kerr.UnknownTopicOrPartition
			default:
				partition.TopicID = topic.ID
			}
			whole = whole && partition.err == nil
			all = append(all, partition)
		}
	}
	return all, whole
}

func addedRows(wanted *kmsg.AddPartitionsToTxnRequestTransaction, partitions []addedPartition) []kmsg.AddPartitionsToTxnResponseTransactionTopic {
	rows := make([]kmsg.AddPartitionsToTxnResponseTransactionTopic, 0, len(wanted.Topics))
	for _, asked := range wanted.Topics {
		row := kmsg.AddPartitionsToTxnResponseTransactionTopic{Topic: asked.Topic}
		for _, partition := range partitions[:len(asked.Partitions)] {
			row.Partitions = append(row.Partitions, kmsg.AddPartitionsToTxnResponseTransactionTopicPartition{
				Partition: partition.Partition, ErrorCode: codeOf(partition.err),
			})
		}
		partitions = partitions[len(asked.Partitions):]
		rows = append(rows, row)
	}
	return rows
}
