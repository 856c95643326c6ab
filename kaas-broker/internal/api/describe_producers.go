package api

// DescribeProducers, key 61, v0 (KIP-664).
//
// Every producer that a partition remembers, with its open transaction if there is one; coordinator epoch -1 for one that never took part in any.
//
// Deviations: the time of a producer is when the broker last heard of it (Kafka: what its last batch says, which clients may choose), and producers are in the order
// of their ids. Epochs of coordinators begin at 1. INVALID_REQUEST for the partitions that have no room in an answer of 64 MiB.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) describeProducers(ctx context.Context, r *protocol.Request, request *kmsg.DescribeProducersRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeProducersResponse](request)
	snapshot := h.Catalog.Snapshot()
	room := roomFor(r)
	defer room.fit()
	response.Topics = make([]kmsg.DescribeProducersResponseTopic, len(request.Topics))
	for t, wanted := range request.Topics {
		var topic *catalog.Topic
		err := catalog.ValidateName(wanted.Topic)
		if err == nil {
			topic, err = h.topicFor(r.Conn, snapshot, kmsg.ACLOperationRead, wanted.Topic)
		}
		answer := &response.Topics[t]
		answer.Topic = wanted.Topic
		answer.Partitions = make([]kmsg.DescribeProducersResponseTopicPartition, len(wanted.Partitions))
		for i, index := range wanted.Partitions {
			row := &answer.Partitions[i]
			row.Partition, row.ActiveProducers = index, []kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
			if err != nil {
				row.ErrorCode, row.ErrorMessage = plainly(err)
				continue
			}
			row.ErrorCode = codeOf(h.producersOf(ctx, r, room, topic, row))
		}
	}
	return response, ctx.Err()
}

// producersOf fills in the producers of a partition.
func (h *Handlers) producersOf(
	ctx context.Context, r *protocol.Request, room *answerRoom, topic *catalog.Topic, row *kmsg.DescribeProducersResponseTopicPartition,
) error {
	p, err := h.partition(topic, row.Partition)
	if err != nil {
		return err
	}
	if err := room.left(); err != nil {
		return err
	}
	producers := p.Producers()
	if err := room.take(ctx, rowBytes*len(producers)); err != nil {
		return err
	}
	if err := p.Confirm(ctx, r.Received); err != nil {
		return err
	}
	for _, known := range producers {
		row.ActiveProducers = append(row.ActiveProducers, kmsg.DescribeProducersResponseTopicPartitionActiveProducer{
			ProducerID: known.ID, ProducerEpoch: int32(known.Epoch), LastSequence: known.LastSequence, LastTimestamp: known.LastSeen,
			CoordinatorEpoch: known.CoordinatorEpoch, CurrentTxnStartOffset: known.TransactionStart,
		})
	}
	return nil
}
