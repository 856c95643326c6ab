package api

// ListOffsets, key 2, v0-v8.
//
// Times: -1 the end (the last stable offset for read_committed), -2 the log start, -3 the first record with the largest timestamp, -4 as -2, anything else
// the first record with that timestamp or a later one. As in Kafka no version gates these. Every answer waits for a fence check that
// began after the request had arrived.
//
// Deviations: -3 names the record itself, as Kafka from 3.8 on; 3.7 names the last record of its batch, and no committed record while the newest of all is
// not committed. v0 asks for the offsets at which segments begin; it
// is told the boundaries that every client can use: the end, the first record that is not older than the time, the log start. A batch that does not show the
// record that its header promises, or takes more than 128 MiB without its compression, is answered with its first offset and largest timestamp.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// The times with a meaning of their own.
const (
	timeLatest        int64 = -1
	timeEarliest      int64 = -2
	timeMaxTimestamp  int64 = -3
	timeEarliestLocal int64 = -4
)

// The isolation levels of Fetch and ListOffsets.
const (
	readUncommitted int8 = 0
	readCommitted   int8 = 1
)

func (h *Handlers) listOffsets(ctx context.Context, r *protocol.Request, request *kmsg.ListOffsetsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.ListOffsetsResponse](request)
	snapshot := h.Catalog.Snapshot()
	h.beginListOffsets(ctx, r, snapshot, request)
	twice := namedTwice(request)
	response.Topics = make([]kmsg.ListOffsetsResponseTopic, 0, len(request.Topics))
	for _, wanted := range request.Topics {
		topic, err := h.topicFor(r.Conn, snapshot, kmsg.ACLOperationDescribe, wanted.Topic)
		answer := kmsg.NewListOffsetsResponseTopic()
		answer.Topic = wanted.Topic
		answer.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, 0, len(wanted.Partitions))
		for _, partition := range wanted.Partitions {
			row := kmsg.NewListOffsetsResponseTopicPartition()
			row.Partition = partition.Partition
			found := err
			switch {
			case found != nil:
			case twice[partitionName{wanted.Topic, partition.Partition}]:
				found = kerr.InvalidRequest
			case request.IsolationLevel != readUncommitted && request.IsolationLevel != readCommitted:
				found = kerr.UnknownServerError
			default:
				found = h.offsetsOf(ctx, r, request, topic, &partition, &row)
			}
			row.ErrorCode = codeOf(found)
			answer.Partitions = append(answer.Partitions, row)
		}
		response.Topics = append(response.Topics, answer)
	}
	return response, ctx.Err()
}

// namedTwice finds the partitions that a request names more than once: each mention is refused, but in v0, whose clients asked for several times so.
func namedTwice(request *kmsg.ListOffsetsRequest) map[partitionName]bool {
	if request.Version == 0 || len(request.Topics) == 1 && len(request.Topics[0].Partitions) == 1 {
		return nil
	}
	seen := map[partitionName]bool{}
	for _, topic := range request.Topics {
		for _, partition := range topic.Partitions {
			name := partitionName{topic.Topic, partition.Partition}
			_, again := seen[name]
			seen[name] = again
		}
	}
	return seen
}

// beginListOffsets begins the fence checks of all partitions, so that they run at the same time.
func (h *Handlers) beginListOffsets(ctx context.Context, r *protocol.Request, snapshot *catalog.Snapshot, request *kmsg.ListOffsetsRequest) {
	ended := endedContext(ctx)
	for _, wanted := range request.Topics {
		topic, known := snapshot.ByName(wanted.Topic)
		if !known || !h.mayTopic(r.Conn, kmsg.ACLOperationDescribe, wanted.Topic) {
			continue
		}
		for _, partition := range wanted.Partitions {
			if p, err := h.partition(topic, partition.Partition); err == nil {
				_ = p.Confirm(ended, r.Received)
			}
		}
	}
}

func (h *Handlers) offsetsOf(ctx context.Context, r *protocol.Request, request *kmsg.ListOffsetsRequest, topic *catalog.Topic,
	wanted *kmsg.ListOffsetsRequestTopicPartition, row *kmsg.ListOffsetsResponseTopicPartition,
) error {
	p, err := h.partitionAt(topic, wanted.Partition, wanted.CurrentLeaderEpoch)
	if err != nil {
		return err
	}
	found := *row
	if request.Version == 0 {
		found.OldStyleOffsets, err = h.boundaries(ctx, p, wanted.Timestamp, int(wanted.MaxNumOffsets))
	} else {
		err = h.offsetAt(ctx, p, wanted.Timestamp, request.IsolationLevel, &found)
	}
	if err != nil {
		return err
	}
	if err := p.Confirm(ctx, r.Received); err != nil {
		return err
	}
	*row = found
	return nil
}

// offsetAt fills in what the partition has at a time.
func (h *Handlers) offsetAt(ctx context.Context, p *storage.Partition, time int64, isolation int8, row *kmsg.ListOffsetsResponseTopicPartition) error {
	bounds := p.Offsets()
	limit := bounds.HighWatermark
	if isolation == readCommitted {
		limit = bounds.LastStable
	}
	var found storage.TimestampOffset
	var err error
	switch time {
	case timeLatest:
		row.Offset, row.LeaderEpoch = limit, int32(p.Epoch())
		return nil
	case timeEarliest, timeEarliestLocal:
		row.Offset, row.LeaderEpoch = bounds.LogStart, int32(p.EpochForOffset(bounds.LogStart))
		if bounds.LogStart == bounds.LogEnd {
			row.LeaderEpoch = int32(p.Epoch()) // the next record's
		}
		return nil
	case timeMaxTimestamp:
		found, err = p.MaxTimestampOffset(ctx, limit)
	default:
		found, err = p.OffsetForTimestamp(ctx, time, limit)
	}
	row.Offset, row.Timestamp, row.LeaderEpoch = found.Offset, found.Timestamp, int32(found.LeaderEpoch)
	return err
}

// boundaries is the answer of v0: offsets at or before which there are only records older than the time, newest first, at most limit of them.
func (h *Handlers) boundaries(ctx context.Context, p *storage.Partition, time int64, limit int) ([]int64, error) {
	bounds := p.Offsets()
	offsets := []int64{bounds.LogStart}
	switch time {
	case timeEarliest, timeEarliestLocal:
	case timeLatest:
		offsets = []int64{bounds.HighWatermark, bounds.LogStart}
	default:
		found, err := p.OffsetForTimestamp(ctx, time, bounds.HighWatermark)
		if err != nil {
			return nil, err
		}
		if found.Offset < 0 {
			found.Offset = bounds.HighWatermark
		}
		offsets = []int64{found.Offset, bounds.LogStart}
		if found.Offset == bounds.LogStart {
			offsets = nil // nothing is older
		}
	}
	if len(offsets) == 2 && offsets[0] == offsets[1] {
		offsets = offsets[:1]
	}
	return offsets[:min(len(offsets), max(limit, 0))], nil
}
