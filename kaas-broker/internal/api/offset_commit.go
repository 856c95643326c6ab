package api

// OffsetCommit, key 8, v0-v9.
//
// A commit is answered when it is durable and this broker was still the group's coordinator then. An offset is kept with the id of its topic, so that a
// topic that is deleted and made again begins without offsets. v0 stands for offsets in ZooKeeper: UNSUPPORTED_VERSION, as in Kafka without ZooKeeper.
//
// Deviations: rows are in the order of the request (Kafka: those with errors first), and each mention of a partition has one. INVALID_COMMIT_OFFSET_SIZE
// for what would take more than 8 MiB of the log (Kafka: more than the largest message of __consumer_offsets, 1 MiB).

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// commitCall is one OffsetCommit request at work.
type commitCall struct {
	request  *kmsg.OffsetCommitRequest
	response *kmsg.OffsetCommitResponse
	offsets  []coordinator.CommitOffset
	rows     []*kmsg.OffsetCommitResponseTopicPartition // of the offsets
}

func (h *Handlers) offsetCommit(ctx context.Context, r *protocol.Request, request *kmsg.OffsetCommitRequest) (kmsg.Response, error) {
	call := &commitCall{request: request, response: responseTo[*kmsg.OffsetCommitResponse](request)}
	refused := h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group)
	if refused == nil {
		h.sortOut(r.Conn, call)
	} else {
		call.answer(func(string, int32) error { return refused })
	}
	switch {
	case len(call.offsets) == 0:
	case request.Version == 0:
		call.answer(func(string, int32) error { return kerr.UnsupportedVersion })
	default:
		if err := h.commit(ctx, call); err != nil {
			return nil, err
		}
	}
	return call.response, nil
}

// answer fills the response with what the function says of each partition.
func (c *commitCall) answer(of func(topic string, partition int32) error) {
	c.response.Topics = make([]kmsg.OffsetCommitResponseTopic, len(c.request.Topics))
	for t, topic := range c.request.Topics {
		answer := &c.response.Topics[t]
		answer.Topic = topic.Topic
		answer.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(topic.Partitions))
		for i, partition := range topic.Partitions {
			answer.Partitions[i].Partition = partition.Partition
			answer.Partitions[i].ErrorCode = codeOf(of(topic.Topic, partition.Partition))
		}
	}
}

// sortOut answers what cannot be committed, and lists the rest.
func (h *Handlers) sortOut(conn *protocol.Conn, c *commitCall) {
	snapshot := h.Catalog.Snapshot()
	found := make([]*catalog.Topic, len(c.request.Topics))
	errs := make(map[string]error, len(c.request.Topics))
	for t, topic := range c.request.Topics {
		found[t], errs[topic.Topic] = h.topicFor(conn, snapshot, kmsg.ACLOperationRead, topic.Topic)
	}
	c.answer(func(topic string, _ int32) error { return errs[topic] })
	for t, topic := range found {
		if topic == nil {
			continue
		}
		for i := range c.request.Topics[t].Partitions {
			row := &c.response.Topics[t].Partitions[i]
			if !topic.HasPartition(row.Partition) {
				row.ErrorCode = kerr.UnknownTopicOrPartition.Code
				continue
			}
			c.offsets = append(c.offsets, commitOffset(topic, &c.request.Topics[t].Partitions[i]))
			c.rows = append(c.rows, row)
		}
	}
}

func commitOffset(topic *catalog.Topic, p *kmsg.OffsetCommitRequestTopicPartition) coordinator.CommitOffset {
	return coordinator.CommitOffset{
		Partition: offset.Partition{Topic: topic.Name, Partition: p.Partition},
		TopicID:   topic.ID, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: textOf(p.Metadata), CommitTime: p.Timestamp,
	}
}

func (h *Handlers) commit(ctx context.Context, c *commitCall) error {
	results, err := h.Groups.Commit(ctx, c.request.Group, coordinator.CommitRequest{
		Identity:  group.Identity{MemberID: c.request.MemberID, InstanceID: c.request.InstanceID, Generation: c.request.Generation},
		Offsets:   c.offsets,
		Retention: retention(c.request.RetentionTimeMillis),
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, row := range c.rows {
		row.ErrorCode = codeOf(errorAt(results, i, err))
	}
	return nil
}

// retention is a client's wish, negative for none; what is too long for a duration becomes the longest.
func retention(milliseconds int64) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(max(min(milliseconds, longest), -1)) * time.Millisecond
}
