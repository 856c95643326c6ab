package api

// TxnOffsetCommit, key 28, v0-v3 (KIP-447: the consumer's membership is checked from v3).
//
// The offsets become the group's when the transaction commits. The first ones of a producer are taken only if the transaction's coordinator says that it is
// open and has the group. The answer comes when they are durably staged.
//
// Deviations: rows are in the order of the request (Kafka: those with errors first), and each mention of a partition has one. The group itself must be part of the
// transaction (Kafka: any group of the same partition of __consumer_offsets).

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// The versions of TxnOffsetCommit from which on something changes.
const (
	stageKnowsLoading   = 2
	stageWithMembership = 3
)

func (h *Handlers) txnOffsetCommit(ctx context.Context, r *protocol.Request, request *kmsg.TxnOffsetCommitRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.TxnOffsetCommitResponse](request)
	refused := h.mayTransact(r.Conn, kmsg.ACLOperationWrite, request.TransactionalID)
	if refused == nil {
		refused = h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group)
	}
	offsets, rows := h.stageable(r.Conn, request, response, refused)
	if len(offsets) == 0 {
		return response, ctx.Err()
	}
	results, err := h.Transactions.StageOffsets(ctx, request.Group, coordinator.StageRequest{
		TransactionalID: request.TransactionalID,
		Producer:        coordinator.Producer{ID: request.ProducerID, Epoch: request.ProducerEpoch},
		Identity:        stagingMember(request),
		Offsets:         offsets,
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, row := range rows {
		one := errorAt(results, i, err)
		if request.Version < stageKnowsLoading && errors.Is(one, coordinator.ErrLoading) {
			one = kerr.CoordinatorNotAvailable
		}
		row.ErrorCode = codeOf(one)
	}
	return response, nil
}

func stagingMember(request *kmsg.TxnOffsetCommitRequest) group.Identity {
	if request.Version < stageWithMembership {
		return group.Identity{Generation: -1}
	}
	return group.Identity{MemberID: request.MemberID, InstanceID: request.InstanceID, Generation: request.Generation}
}

// stageable answers what cannot be staged, all of it if the request is refused, and lists the rest with the rows to be filled in.
func (h *Handlers) stageable(
	conn *protocol.Conn, request *kmsg.TxnOffsetCommitRequest, response *kmsg.TxnOffsetCommitResponse, refused error,
) (offsets []coordinator.CommitOffset, rows []*kmsg.TxnOffsetCommitResponseTopicPartition) {
	snapshot := h.Catalog.Snapshot()
	response.Topics = make([]kmsg.TxnOffsetCommitResponseTopic, len(request.Topics))
	for t, wanted := range request.Topics {
		topic, err := h.topicFor(conn, snapshot, kmsg.ACLOperationRead, wanted.Topic)
		if refused != nil {
			err = refused
		}
		response.Topics[t].Topic = wanted.Topic
		response.Topics[t].Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(wanted.Partitions))
		for i, p := range wanted.Partitions {
			row := &response.Topics[t].Partitions[i]
			row.Partition = p.Partition
			switch {
			case err != nil:
				row.ErrorCode = codeOf(err)
			case !topic.HasPartition(p.Partition):
				row.ErrorCode = kerr.UnknownTopicOrPartition.Code
			default:
				offsets = append(offsets, coordinator.CommitOffset{
					Partition: offset.Partition{Topic: topic.Name, Partition: p.Partition},
					TopicID:   topic.ID, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: textOf(p.Metadata), CommitTime: -1,
				})
				rows = append(rows, row)
			}
		}
	}
	return offsets, rows
}
