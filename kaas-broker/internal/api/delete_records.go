package api

// DeleteRecords, key 21, v0-v2 (KIP-107).
//
// -1 stands for the high watermark; an offset at or below the log start changes nothing and succeeds. The answer comes when the new log start is durable.
//
// Deviations: Kafka forgets a new log start at kill -9 until its next checkpoint. timeout_ms bounds the wait for what was appended before; a file
// operation that hangs is bounded by the log engine's own deadline.

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// deletion is one partition of a request whose records may be deleted.
type deletion struct {
	topic  *catalog.Topic
	offset int64
	row    *kmsg.DeleteRecordsResponseTopicPartition
}

func (h *Handlers) deleteRecords(ctx context.Context, r *protocol.Request, request *kmsg.DeleteRecordsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DeleteRecordsResponse](request)
	limited, cancel := context.WithTimeout(ctx, max(time.Duration(request.TimeoutMillis)*time.Millisecond, leastTimeout))
	defer cancel()
	snapshot := h.Catalog.Snapshot()
	onlyOnce(request)
	var deletions []deletion
	response.Topics = make([]kmsg.DeleteRecordsResponseTopic, len(request.Topics))
	for t, wanted := range request.Topics {
		topic, err := h.topicFor(r.Conn, snapshot, kmsg.ACLOperationDelete, wanted.Topic)
		answer := &response.Topics[t]
		answer.Topic = wanted.Topic
		answer.Partitions = make([]kmsg.DeleteRecordsResponseTopicPartition, len(wanted.Partitions))
		for i, partition := range wanted.Partitions {
			row := &answer.Partitions[i]
			row.Partition, row.LowWatermark = partition.Partition, -1
			if err != nil {
				row.ErrorCode = codeOf(err)
				continue
			}
			deletions = append(deletions, deletion{topic, partition.Offset, row})
		}
	}
	inParallel(len(deletions), func(i int) {
		d := deletions[i]
		low, err := h.deleteBefore(limited, d.topic, d.row.Partition, d.offset)
		d.row.LowWatermark, d.row.ErrorCode = low, codeOf(err)
	})
	return response, ctx.Err()
}

// onlyOnce leaves the last mention of a partition that is named more than once in a topic, as Kafka does.
func onlyOnce(request *kmsg.DeleteRecordsRequest) {
	for t := range request.Topics {
		topic := &request.Topics[t]
		last := make(map[int32]int, len(topic.Partitions))
		for i, partition := range topic.Partitions {
			last[partition.Partition] = i
		}
		if len(last) == len(topic.Partitions) {
			continue
		}
		kept := make([]kmsg.DeleteRecordsRequestTopicPartition, 0, len(last))
		for i, partition := range topic.Partitions {
			if last[partition.Partition] == i {
				kept = append(kept, partition)
			}
		}
		topic.Partitions = kept
	}
}

// deleteBefore moves a partition's log start and returns it, -1 with an error.
func (h *Handlers) deleteBefore(ctx context.Context, topic *catalog.Topic, index int32, offset int64) (int64, error) {
	if topic.Internal {
		return -1, kerr.InvalidTopicException
	}
	p, err := h.partition(topic, index)
	if err != nil {
		return -1, err
	}
	if !topic.Effective.Delete {
		return -1, kerr.PolicyViolation
	}
	start, err := p.DeleteRecords(ctx, offset)
	if err != nil {
		return -1, err
	}
	return start, nil
}
