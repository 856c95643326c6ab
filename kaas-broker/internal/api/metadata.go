package api

// Metadata, key 3, v0-v12.
//
// Brokers are told with the address of the listener that the client came on; the controller and every leader are among them. A partition that cannot be
// served, or not yet, has no leader and LEADER_NOT_AVAILABLE. Its leader epoch is the log engine's, which only grows, also for a topic that was deleted
// and made again.
//
// Deviations: a topic that the request creates is answered when its partitions are served, not with UNKNOWN_TOPIC_OR_PARTITION; if it
// cannot be created the answer says why (Kafka: UNKNOWN_TOPIC_OR_PARTITION for ever, also for a name that collides). Replicas and ISR are the leader. A topic
// without name and id is INVALID_REQUEST (Kafka: UNKNOWN_SERVER_ERROR). A request of v10 or v11 by topic id, or without a name, is refused (INVALID_REQUEST for
// its topics, as Kafka does) but lists the brokers.

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) metadata(ctx context.Context, r *protocol.Request, request *kmsg.MetadataRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.MetadataResponse](request)
	if err := countAnswer(ctx, r, h.metadataBytes(request)); err != nil {
		return nil, err
	}
	h.metadataCluster(r.Conn, response)
	switch {
	case request.Topics == nil:
		h.metadataOfAll(r.Conn, response)
	case !namesTopicsByItsVersion(request):
		refuseMetadata(request, response)
	default:
		h.metadataOfNamed(ctx, r.Conn, request, response)
	}
	if request.IncludeClusterAuthorizedOperations && request.Version >= 8 && request.Version <= 10 {
		response.AuthorizedOperations = h.clusterOperationsFor(r.Conn)
	}
	if request.IncludeTopicAuthorizedOperations {
		h.addTopicOperations(r.Conn, response)
	}
	return response, ctx.Err()
}

// metadataBytes is about what the answer takes.
func (h *Handlers) metadataBytes(request *kmsg.MetadataRequest) int {
	snapshot := h.Catalog.Snapshot()
	named := rowBytes * len(request.Topics)
	for i := range request.Topics {
		topic, known := snapshot.ByID(request.Topics[i].TopicID)
		if !known {
			topic, known = snapshot.ByName(textOf(request.Topics[i].Topic))
		}
		if known {
			named += bytesOf(topic)
		}
	}
	if request.Topics != nil && named < freeAnswer {
		return named
	}
	all := rowBytes * len(request.Topics)
	for _, topic := range snapshot.Topics() {
		all += bytesOf(topic)
	}
	if request.Topics == nil {
		return all
	}
	return min(named, all) // each is told once, however often it is named
}

func bytesOf(topic *catalog.Topic) int { return rowBytes*(1+int(topic.Partitions)) + len(topic.Name) }

// metadataCluster fills in who the brokers are.
func (h *Handlers) metadataCluster(conn *protocol.Conn, response *kmsg.MetadataResponse) {
	response.Brokers = []kmsg.MetadataResponseBroker{h.endpoint(conn.Listener())}
	cluster := h.Broker.ClusterID
	response.ClusterID, response.ControllerID = &cluster, h.Broker.NodeID
}

// namesTopicsByItsVersion reports whether every topic is named the way the version allows: ids were in the messages before they had a meaning (KIP-516).
func namesTopicsByItsVersion(request *kmsg.MetadataRequest) bool {
	for i := range request.Topics {
		topic := &request.Topics[i]
		if request.Version < 12 && (topic.Topic == nil || topic.TopicID != [16]byte{}) {
			return false
		}
	}
	return true
}

func refuseMetadata(request *kmsg.MetadataRequest, response *kmsg.MetadataResponse) {
	for _, wanted := range request.Topics {
		name := textOf(wanted.Topic)
		row := kmsg.NewMetadataResponseTopic()
		row.ErrorCode, row.Topic, row.TopicID = kerr.InvalidRequest.Code, &name, wanted.TopicID
		response.Topics = append(response.Topics, row)
	}
}

// metadataOfAll lists every topic that the client may know of.
func (h *Handlers) metadataOfAll(conn *protocol.Conn, response *kmsg.MetadataResponse) {
	topics := h.Catalog.Snapshot().Topics()
	response.Topics = make([]kmsg.MetadataResponseTopic, 0, len(topics))
	for _, topic := range topics {
		if h.mayTopic(conn, kmsg.ACLOperationDescribe, topic.Name) {
			response.Topics = append(response.Topics, h.metadataOf(topic))
		}
	}
}

// metadataOfNamed answers each topic once. One id makes it a request by ids, in which names do not count, as in Kafka.
func (h *Handlers) metadataOfNamed(ctx context.Context, conn *protocol.Conn, request *kmsg.MetadataRequest, response *kmsg.MetadataResponse) {
	byID := false
	for i := range request.Topics {
		byID = byID || request.Topics[i].TopicID != [16]byte{}
	}
	response.Topics = make([]kmsg.MetadataResponseTopic, 0, len(request.Topics))
	client := patience{until: time.Now().Add(leaderWait)}
	ids, names := map[uuid.UUID]bool{}, map[string]bool{}
	for _, wanted := range request.Topics {
		switch {
		case byID && wanted.TopicID != [16]byte{} && !ids[wanted.TopicID]:
			ids[wanted.TopicID] = true
			response.Topics = append(response.Topics, h.metadataByID(conn, wanted.TopicID))
		case !byID && wanted.Topic == nil:
			row := kmsg.NewMetadataResponseTopic()
			row.ErrorCode, row.Topic = kerr.InvalidRequest.Code, new(string)
			response.Topics = append(response.Topics, row)
		case !byID && !names[*wanted.Topic]:
			names[*wanted.Topic] = true
			response.Topics = append(response.Topics, h.metadataByName(ctx, conn, client, request, *wanted.Topic))
		}
	}
}

func (h *Handlers) metadataByID(conn *protocol.Conn, id uuid.UUID) kmsg.MetadataResponseTopic {
	topic, known := h.Catalog.Snapshot().ByID(id)
	// A topic that the client may not know of is answered as if it did not exist: its id would tell.
	if known && h.mayTopic(conn, kmsg.ACLOperationDescribe, topic.Name) {
		return h.metadataOf(topic)
	}
	row := kmsg.NewMetadataResponseTopic()
	row.ErrorCode, row.TopicID = kerr.UnknownTopicID.Code, id
	return row
}

func (h *Handlers) metadataByName(
	ctx context.Context, conn *protocol.Conn, client patience, request *kmsg.MetadataRequest, name string,
) kmsg.MetadataResponseTopic {
	topic, err := h.topicFor(conn, h.Catalog.Snapshot(), kmsg.ACLOperationDescribe, name)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		topic, err = h.missingTopic(ctx, conn, client, name, request.AllowAutoTopicCreation)
	}
	if err == nil {
		return h.metadataOf(topic)
	}
	row := kmsg.NewMetadataResponseTopic()
	row.ErrorCode, row.Topic, row.IsInternal = codeOf(err), &name, catalog.IsInternal(name)
	return row
}

// metadataOf describes a topic without waiting for anything.
func (h *Handlers) metadataOf(topic *catalog.Topic) kmsg.MetadataResponseTopic {
	row := kmsg.NewMetadataResponseTopic()
	row.Topic, row.TopicID, row.IsInternal = &topic.Name, topic.ID, topic.Internal
	row.Partitions = make([]kmsg.MetadataResponseTopicPartition, topic.Partitions)
	self := []int32{h.Broker.NodeID}
	for index := range topic.Partitions {
		partition := &row.Partitions[index]
		partition.Default()
		partition.Partition, partition.Replicas = index, self
		node, epoch, known := h.leaderHint(topic, index)
		partition.Leader, partition.LeaderEpoch = node, epoch
		if known {
			partition.ISR = self
		} else {
			partition.ErrorCode, partition.OfflineReplicas = kerr.LeaderNotAvailable.Code, self
		}
	}
	return row
}

// clusterOperationsFor is 0 for a client that may not describe the cluster.
func (h *Handlers) clusterOperationsFor(conn *protocol.Conn) int32 {
	if !h.mayCluster(conn, kmsg.ACLOperationDescribe) {
		return 0
	}
	return h.authorizedOperations(conn, kmsg.ACLResourceTypeCluster, clusterResource)
}

// addTopicOperations tells what the client may do with each topic that it may know of.
func (h *Handlers) addTopicOperations(conn *protocol.Conn, response *kmsg.MetadataResponse) {
	for i := range response.Topics {
		topic := &response.Topics[i]
		if topic.Topic != nil && topic.ErrorCode != kerr.TopicAuthorizationFailed.Code {
			topic.AuthorizedOperations = h.authorizedOperations(conn, kmsg.ACLResourceTypeTopic, *topic.Topic)
		}
	}
}
