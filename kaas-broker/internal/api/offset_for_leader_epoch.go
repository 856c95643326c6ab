package api

// OffsetForLeaderEpoch, key 23, v0-v4 (KIP-101, KIP-279, KIP-320).
//
// The answer waits for a fence check: an end offset that is too low, from a leader that has been replaced, would look like data loss to the client.
// Deviations: the end of the current epoch is the high watermark, not the log end: what is behind it may still be lost.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func (h *Handlers) offsetForLeaderEpoch(ctx context.Context, r *protocol.Request, request *kmsg.OffsetForLeaderEpochRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.OffsetForLeaderEpochResponse](request)
	snapshot := h.Catalog.Snapshot()
	for _, wanted := range request.Topics {
		topic, err := h.topicFor(r.Conn, snapshot, kmsg.ACLOperationDescribe, wanted.Topic)
		answer := kmsg.NewOffsetForLeaderEpochResponseTopic()
		answer.Topic = wanted.Topic
		for _, partition := range wanted.Partitions {
			row := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			row.Partition, row.LeaderEpoch, row.EndOffset = partition.Partition, -1, -1
			found := err
			if found == nil {
				found = h.endOfEpoch(ctx, r, topic, &partition, &row)
			}
			row.ErrorCode = codeOf(found)
			answer.Partitions = append(answer.Partitions, row)
		}
		response.Topics = append(response.Topics, answer)
	}
	return response, ctx.Err()
}

func (h *Handlers) endOfEpoch(ctx context.Context, r *protocol.Request, topic *catalog.Topic,
	wanted *kmsg.OffsetForLeaderEpochRequestTopicPartition, row *kmsg.OffsetForLeaderEpochResponseTopicPartition,
) error {
	p, err := h.partitionAt(topic, wanted.Partition, wanted.CurrentLeaderEpoch)
	if err != nil {
		return err
	}
	epoch, end := p.OffsetForLeaderEpoch(storage.Epoch(wanted.LeaderEpoch))
	if err := p.Confirm(ctx, r.Received); err != nil {
		return err
	}
	row.LeaderEpoch, row.EndOffset = int32(epoch), end
	return nil
}
