package api

// DescribeTopicPartitions, key 75, v0 (KIP-966).
//
// Topics come in order of their names, so that the cursor says where the next page begins. Authorized operations are always told, as Kafka does.
// Deviations: there is one replica, so no eligible leader replicas.

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// maxDescribedPartitions is Kafka's max.request.partition.size.limit.
const maxDescribedPartitions = 2000

func (h *Handlers) describeTopicPartitions(ctx context.Context, r *protocol.Request, request *kmsg.DescribeTopicPartitionsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeTopicPartitionsResponse](request)
	if !cursorFits(request) {
		refuseDescriptions(request, response)
		return response, ctx.Err()
	}
	snapshot := h.Catalog.Snapshot()
	room := max(min(request.ResponsePartitionLimit, maxDescribedPartitions), 1)
	for _, name := range describedNames(snapshot, request) {
		first := int32(0)
		if request.Cursor != nil && request.Cursor.Topic == name {
			first = request.Cursor.Partition
		}
		if room == 0 {
			response.NextCursor = cursorAt(name, 0)
			break
		}
		topic, err := h.topicFor(r.Conn, snapshot, kmsg.ACLOperationDescribe, name)
		if err != nil {
			if len(request.Topics) > 0 {
				response.Topics = append(response.Topics, h.undescribed(r.Conn, name, err))
			}
			continue
		}
		end := min(topic.Partitions, first+room)
		response.Topics = append(response.Topics, h.described(r.Conn, topic, first, end))
		if end < topic.Partitions {
			response.NextCursor = cursorAt(name, end)
			break
		}
		room -= max(end-first, 0)
	}
	return response, ctx.Err()
}

// cursorFits reports whether the cursor can have come from an answer to such a request: it names one of the topics asked for.
func cursorFits(request *kmsg.DescribeTopicPartitionsRequest) bool {
	if request.Cursor == nil {
		return true
	}
	return request.Cursor.Partition >= 0 && (len(request.Topics) == 0 ||
		slices.ContainsFunc(request.Topics, func(t kmsg.DescribeTopicPartitionsRequestTopic) bool { return t.Topic == request.Cursor.Topic }))
}

func refuseDescriptions(request *kmsg.DescribeTopicPartitionsRequest, response *kmsg.DescribeTopicPartitionsResponse) {
	for i := range request.Topics {
		row := kmsg.NewDescribeTopicPartitionsResponseTopic()
		row.ErrorCode, row.Topic = kerr.InvalidRequest.Code, &request.Topics[i].Topic
		response.Topics = append(response.Topics, row)
	}
}

// describedNames are the topics asked for, each once and in order, from the cursor's on.
func describedNames(snapshot *catalog.Snapshot, request *kmsg.DescribeTopicPartitionsRequest) []string {
	var names []string
	if len(request.Topics) == 0 {
		for _, topic := range snapshot.Topics() {
			names = append(names, topic.Name)
		}
	}
	for _, topic := range request.Topics {
		names = append(names, topic.Topic)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if request.Cursor == nil {
		return names
	}
	from, _ := slices.BinarySearch(names, request.Cursor.Topic)
	return names[from:]
}

func cursorAt(topic string, partition int32) *kmsg.DescribeTopicPartitionsResponseNextCursor {
	cursor := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	cursor.Topic, cursor.Partition = topic, partition
	return &cursor
}

func (h *Handlers) described(conn *protocol.Conn, topic *catalog.Topic, first, end int32) kmsg.DescribeTopicPartitionsResponseTopic {
	row := kmsg.NewDescribeTopicPartitionsResponseTopic()
	row.Topic, row.TopicID, row.IsInternal = &topic.Name, topic.ID, topic.Internal
	row.AuthorizedOperations = h.authorizedOperations(conn, kmsg.ACLResourceTypeTopic, topic.Name)
	self := []int32{h.Broker.NodeID}
	for index := first; index < end; index++ {
		partition := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
		partition.Partition, partition.Replicas = index, self
		partition.EligibleLeaderReplicas, partition.LastKnownELR = []int32{}, []int32{}
		node, epoch, known := h.leaderHint(topic, index)
		partition.LeaderID, partition.LeaderEpoch = node, epoch
		if known {
			partition.ISR = self
		} else {
			partition.ErrorCode, partition.OfflineReplicas = kerr.LeaderNotAvailable.Code, self
		}
		row.Partitions = append(row.Partitions, partition)
	}
	return row
}

func (h *Handlers) undescribed(conn *protocol.Conn, name string, err error) kmsg.DescribeTopicPartitionsResponseTopic {
	if invalid := catalog.ValidateName(name); invalid != nil && codeOf(err) == kerr.UnknownTopicOrPartition.Code {
		err = kerr.InvalidTopicException
	}
	row := kmsg.NewDescribeTopicPartitionsResponseTopic()
	row.ErrorCode, row.Topic, row.IsInternal = codeOf(err), &name, catalog.IsInternal(name)
	if codeOf(err) != kerr.TopicAuthorizationFailed.Code {
		row.AuthorizedOperations = h.authorizedOperations(conn, kmsg.ACLResourceTypeTopic, name)
	}
	return row
}
