package api

// OffsetFetch, key 9, v0-v9 (KIP-447: require_stable from v7, KIP-709: several groups from v8).
//
// A partition without a committed offset, of a topic that does not exist too, is answered with offset -1 and no error. No topics at all means all offsets of
// the group. v0 stands for offsets in ZooKeeper: UNSUPPORTED_VERSION, as in Kafka without ZooKeeper.
//
// Deviations: each mention of a partition has a row, and so has a topic without partitions. A request for no group is answered (Kafka never does). INVALID_REQUEST
// for the groups that have no room in an answer of 64 MiB.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// The versions of OffsetFetch from which on something changes.
const (
	fetchOffsetsWithGroupError = 2
	fetchOffsetsOfSeveral      = 8
)

func (h *Handlers) offsetFetch(ctx context.Context, r *protocol.Request, request *kmsg.OffsetFetchRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.OffsetFetchResponse](request)
	room := roomFor(r)
	defer room.fit()
	if request.Version < fetchOffsetsOfSeveral {
		wanted := kmsg.NewOffsetFetchRequestGroup()
		wanted.Group, wanted.Topics = request.Group, topicsOf(request)
		fetched := h.committedOf(ctx, r.Conn, room, request, &wanted)
		flatten(request, response, &wanted, fetched)
		return response, ctx.Err()
	}
	response.Groups = make([]kmsg.OffsetFetchResponseGroup, len(request.Groups))
	inParallel(len(request.Groups), func(i int) {
		response.Groups[i] = h.committedOf(ctx, r.Conn, room, request, &request.Groups[i])
	})
	return response, ctx.Err()
}

// topicsOf are the topics of a request before v8 as v8 has them.
func topicsOf(request *kmsg.OffsetFetchRequest) []kmsg.OffsetFetchRequestGroupTopic {
	if request.Topics == nil {
		return nil
	}
	topics := make([]kmsg.OffsetFetchRequestGroupTopic, len(request.Topics))
	for i, topic := range request.Topics {
		topics[i].Topic, topics[i].Partitions = topic.Topic, topic.Partitions
	}
	return topics
}

// flatten puts the answer for one group into a response before v8. Before v2 there is no error but those of partitions.
func flatten(request *kmsg.OffsetFetchRequest, response *kmsg.OffsetFetchResponse, wanted *kmsg.OffsetFetchRequestGroup,
	fetched kmsg.OffsetFetchResponseGroup,
) {
	response.ErrorCode = fetched.ErrorCode
	if fetched.ErrorCode != 0 && request.Version < fetchOffsetsWithGroupError {
		fetched.Topics = rowsOf(wanted, func(string) error { return kerr.ErrorForCode(fetched.ErrorCode) })
	}
	response.Topics = make([]kmsg.OffsetFetchResponseTopic, len(fetched.Topics))
	for t, topic := range fetched.Topics {
		response.Topics[t].Topic = topic.Topic
		response.Topics[t].Partitions = make([]kmsg.OffsetFetchResponseTopicPartition, len(topic.Partitions))
		for i, p := range topic.Partitions {
			row := &response.Topics[t].Partitions[i]
			row.Partition, row.Offset, row.LeaderEpoch, row.Metadata, row.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
		}
	}
}

// rowsOf are rows without offsets for all partitions that are asked for.
func rowsOf(wanted *kmsg.OffsetFetchRequestGroup, errorOf func(topic string) error) []kmsg.OffsetFetchResponseGroupTopic {
	topics := make([]kmsg.OffsetFetchResponseGroupTopic, len(wanted.Topics))
	for t, topic := range wanted.Topics {
		code := codeOf(errorOf(topic.Topic))
		topics[t].Topic = topic.Topic
		topics[t].Partitions = make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(topic.Partitions))
		for i, partition := range topic.Partitions {
			topics[t].Partitions[i] = kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: partition, Offset: -1, LeaderEpoch: -1, Metadata: new(string), ErrorCode: code,
			}
		}
	}
	return topics
}

func (h *Handlers) committedOf(
	ctx context.Context, conn *protocol.Conn, room *answerRoom, request *kmsg.OffsetFetchRequest, wanted *kmsg.OffsetFetchRequestGroup,
) kmsg.OffsetFetchResponseGroup {
	answer := kmsg.NewOffsetFetchResponseGroup()
	answer.Group, answer.Topics = wanted.Group, []kmsg.OffsetFetchResponseGroupTopic{}
	err := h.mayGroup(conn, kmsg.ACLOperationDescribe, wanted.Group)
	if err == nil && request.Version == 0 {
		err = kerr.UnsupportedVersion
	}
	if err == nil && wanted.Topics == nil {
		answer.Topics, err = h.allOffsets(ctx, conn, room, request, wanted)
	} else if err == nil {
		answer.Topics, err = h.someOffsets(ctx, conn, room, request, wanted)
	}
	answer.ErrorCode = codeOf(err)
	return answer
}

// allOffsets lists every offset of a group that the client may know of.
func (h *Handlers) allOffsets(
	ctx context.Context, conn *protocol.Conn, room *answerRoom, request *kmsg.OffsetFetchRequest, wanted *kmsg.OffsetFetchRequestGroup,
) ([]kmsg.OffsetFetchResponseGroupTopic, error) {
	fetched, err := h.fetchOffsets(ctx, room, wanted.Group, coordinator.FetchRequest{RequireStable: request.RequireStable})
	topics := []kmsg.OffsetFetchResponseGroupTopic{}
	for _, f := range fetched {
		if last := len(topics) - 1; last >= 0 && topics[last].Topic == f.Topic {
			topics[last].Partitions = append(topics[last].Partitions, offsetRow(f))
		} else if h.mayTopic(conn, kmsg.ACLOperationDescribe, f.Topic) {
			row := kmsg.NewOffsetFetchResponseGroupTopic()
			row.Topic, row.Partitions = f.Topic, []kmsg.OffsetFetchResponseGroupTopicPartition{offsetRow(f)}
			topics = append(topics, row)
		}
	}
	return topics, err
}

// someOffsets answers what is asked for, in that order.
func (h *Handlers) someOffsets(
	ctx context.Context, conn *protocol.Conn, room *answerRoom, request *kmsg.OffsetFetchRequest, wanted *kmsg.OffsetFetchRequestGroup,
) ([]kmsg.OffsetFetchResponseGroupTopic, error) {
	topics := rowsOf(wanted, func(topic string) error {
		if !h.mayTopic(conn, kmsg.ACLOperationDescribe, topic) {
			return kerr.TopicAuthorizationFailed
		}
		return nil
	})
	partitions := []offset.Partition{} // never nil, which would mean all
	var rows []*kmsg.OffsetFetchResponseGroupTopicPartition
	for t := range topics {
		for i := range topics[t].Partitions {
			if row := &topics[t].Partitions[i]; row.ErrorCode == 0 {
				partitions = append(partitions, offset.Partition{Topic: topics[t].Topic, Partition: row.Partition})
				rows = append(rows, row)
			}
		}
	}
	fetched, err := h.fetchOffsets(ctx, room, wanted.Group, coordinator.FetchRequest{Partitions: partitions, RequireStable: request.RequireStable})
	if err != nil {
		return []kmsg.OffsetFetchResponseGroupTopic{}, err
	}
	for i, f := range fetched {
		*rows[i] = offsetRow(f)
	}
	return topics, nil
}

// fetchOffsets asks the group's coordinator, while the answer has room.
func (h *Handlers) fetchOffsets(ctx context.Context, room *answerRoom, id string, r coordinator.FetchRequest) ([]coordinator.FetchedOffset, error) {
	if err := room.left(); err != nil {
		return nil, err
	}
	fetched, err := h.Groups.Fetch(ctx, id, r)
	size := 0
	for _, f := range fetched {
		size += rowBytes + len(f.Topic) + len(f.Metadata)
	}
	if err == nil {
		err = room.take(ctx, size)
	}
	if err != nil {
		return nil, err
	}
	return fetched, nil
}

func offsetRow(f coordinator.FetchedOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{
		Partition: f.Partition.Partition, Offset: f.Offset, LeaderEpoch: f.LeaderEpoch, Metadata: &f.Metadata, ErrorCode: codeOf(f.Err),
	}
}
