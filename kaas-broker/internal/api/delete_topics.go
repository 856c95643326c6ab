package api

// DeleteTopics, key 20, v0-v6 (KIP-516: by id from v6).
//
// When a topic is answered without an error, its deletion is durable and its name is free. Its directories are removed afterwards. A topic that is named twice,
// by name, by id or by both, is not deleted. Internal topics may be deleted, as in Kafka.
//
// Deviations: a topic that is named by name and by id gets two rows (Kafka: one).

import (
	"context"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// oldestWithDeletionDisabled is the first version whose clients know TOPIC_DELETION_DISABLED.
const oldestWithDeletionDisabled = 3

// removal is one topic of a request that is to be deleted.
type removal struct {
	name  *string   // as the client gave it, or as the id says if the client may know
	id    uuid.UUID // zero while it is not known
	topic *catalog.Topic
	err   error
}

func (h *Handlers) deleteTopics(ctx context.Context, r *protocol.Request, request *kmsg.DeleteTopicsRequest) (kmsg.Response, error) {
	removals := removalsOf(request)
	h.resolveRemovals(r.Conn, removals)
	client := patienceOf(r, request.TimeoutMillis)
	response := responseTo[*kmsg.DeleteTopicsResponse](request)
	for _, one := range removals {
		switch {
		case h.Config.Topics.DeleteEnabled:
			h.deleteTopic(ctx, client, one)
		case request.Version < oldestWithDeletionDisabled:
			one.err = refuse(kerr.InvalidRequest, "delete.topic.enable is false")
		default:
			one.err = refuse(kerr.TopicDeletionDisabled, "delete.topic.enable is false")
		}
		row := kmsg.NewDeleteTopicsResponseTopic()
		row.Topic, row.TopicID = one.name, one.id
		row.ErrorCode, row.ErrorMessage = h.refusalOf("topic "+one.label(), one.err)
		response.Topics = append(response.Topics, row)
	}
	return response, ctx.Err()
}

func (o *removal) label() string {
	if o.name != nil {
		return *o.name
	}
	return o.id.String()
}

// removalsOf lists what the request names, each name and each id once.
func removalsOf(request *kmsg.DeleteTopicsRequest) []*removal {
	topics := request.Topics
	if request.Version < 6 {
		topics = make([]kmsg.DeleteTopicsRequestTopic, len(request.TopicNames))
		for i := range topics {
			topics[i].Topic = &request.TopicNames[i]
		}
	}
	var removals []*removal
	byName, byID := map[string]*removal{}, map[uuid.UUID]*removal{}
	for i := range topics {
		one := &removal{name: topics[i].Topic, id: topics[i].TopicID}
		switch {
		case one.name != nil && one.id != uuid.Nil:
			one.err = refuse(kerr.InvalidRequest, "a topic is named by its name or by its id, not by both")
		case one.name == nil && one.id == uuid.Nil:
			one.err = refuse(kerr.InvalidRequest, "neither a name nor an id is given")
		case one.name != nil && byName[*one.name] != nil:
			byName[*one.name].err = errTopicTwice
			continue
		case one.name == nil && byID[one.id] != nil:
			byID[one.id].err = refuse(kerr.InvalidRequest, "the request names the topic id more than once")
			continue
		case one.name != nil:
			byName[*one.name] = one
		default:
			byID[one.id] = one
		}
		removals = append(removals, one)
	}
	return removals
}

// resolveRemovals finds the topics. What does not exist, and what the client may not delete, gets its error here.
func (h *Handlers) resolveRemovals(conn *protocol.Conn, removals []*removal) {
	snapshot := h.Catalog.Snapshot()
	first := map[*catalog.Topic]*removal{}
	for _, one := range removals {
		if one.err != nil {
			continue
		}
		if one.name != nil {
			h.resolveByName(conn, snapshot, one)
		} else {
			h.resolveByID(conn, snapshot, one)
		}
		if other := first[one.topic]; one.topic != nil && other != nil {
			one.err = refuse(kerr.InvalidRequest, "the request names the topic by its name and by its id")
			other.err = one.err
		}
		first[one.topic] = one
	}
}

func (h *Handlers) resolveByName(conn *protocol.Conn, snapshot *catalog.Snapshot, one *removal) {
	if !h.mayTopic(conn, kmsg.ACLOperationDescribe, *one.name) {
		one.err = kerr.TopicAuthorizationFailed
		return
	}
	topic, known := snapshot.ByName(*one.name)
	switch {
	case !known:
		one.err = kerr.UnknownTopicOrPartition
	case !h.mayTopic(conn, kmsg.ACLOperationDelete, topic.Name):
		one.id, one.err = topic.ID, kerr.TopicAuthorizationFailed
	default:
		one.id, one.topic = topic.ID, topic
	}
}

// resolveByID tells the topic's name only to who may describe it.
func (h *Handlers) resolveByID(conn *protocol.Conn, snapshot *catalog.Snapshot, one *removal) {
	topic, known := snapshot.ByID(one.id)
	if !known {
		one.err = kerr.UnknownTopicID
		return
	}
	if h.mayTopic(conn, kmsg.ACLOperationDescribe, topic.Name) {
		one.name = &topic.Name
	}
	if !h.mayTopic(conn, kmsg.ACLOperationDelete, topic.Name) {
		one.err = kerr.TopicAuthorizationFailed
		return
	}
	one.topic = topic
}

func (h *Handlers) deleteTopic(ctx context.Context, client patience, one *removal) {
	if one.err != nil {
		return
	}
	one.err = client.change(ctx, func(ctx context.Context) error {
		// The name may have got another topic since it was looked up; that one is not what the client meant.
		if now, known := h.Catalog.Snapshot().ByName(one.topic.Name); known && now.ID != one.topic.ID {
			return kerr.UnknownTopicID
		}
		return h.Topics.DeleteTopic(ctx, one.topic.Name)
	})
}
