package api

// OffsetDelete, key 47, v0 (KIP-496).
//
// Offsets of topics that members of the group consume stay: GROUP_SUBSCRIBED_TO_TOPIC. With the last offset a group without members goes too.
//
// Deviations: rows are in the order of the request (Kafka: those with errors first), and each mention of a partition has one.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) offsetDelete(ctx context.Context, r *protocol.Request, request *kmsg.OffsetDeleteRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.OffsetDeleteResponse](request)
	response.Topics = []kmsg.OffsetDeleteResponseTopic{}
	if err := h.mayGroup(r.Conn, kmsg.ACLOperationDelete, request.Group); err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	topics, partitions, rows := h.deletable(r.Conn, request)
	results, err := h.Groups.DeleteOffsets(ctx, request.Group, partitions)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	for i, row := range rows {
		row.ErrorCode = codeOf(results[i])
	}
	response.Topics = topics
	return response, nil
}

// deletable answers what does not exist or is not the client's, and lists the rest with the rows to be filled in.
func (h *Handlers) deletable(conn *protocol.Conn, request *kmsg.OffsetDeleteRequest,
) (topics []kmsg.OffsetDeleteResponseTopic, partitions []offset.Partition, rows []*kmsg.OffsetDeleteResponseTopicPartition) {
	snapshot := h.Catalog.Snapshot()
	topics = make([]kmsg.OffsetDeleteResponseTopic, len(request.Topics))
	for t, wanted := range request.Topics {
		topic, err := h.topicFor(conn, snapshot, kmsg.ACLOperationRead, wanted.Topic)
		topics[t].Topic = wanted.Topic
		topics[t].Partitions = make([]kmsg.OffsetDeleteResponseTopicPartition, len(wanted.Partitions))
		for i, partition := range wanted.Partitions {
			row := &topics[t].Partitions[i]
			row.Partition = partition.Partition
			switch {
			case err != nil:
				row.ErrorCode = codeOf(err)
			case !topic.HasPartition(partition.Partition):
				row.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				partitions = append(partitions, offset.Partition{Topic: topic.Name, Partition: partition.Partition})
				rows = append(rows, row)
			}
		}
	}
	return topics, partitions, rows
}
