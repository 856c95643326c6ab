package api

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// leaderWait bounds how long an answer waits for its turn to create topics, and for their partitions. A client whose request times out later than that gets
// LEADER_NOT_AVAILABLE and asks again.
const leaderWait = 5 * time.Second

// missingTopic creates a topic that a client named, if broker and client both allow it (auto.create.topics.enable and the request's flag).
func (h *Handlers) missingTopic(ctx context.Context, conn *protocol.Conn, client patience, name string, allowed bool) (*catalog.Topic, error) {
	if err := catalog.ValidateName(name); errors.Is(err, catalog.ErrInvalidName) {
		return nil, err
	} else if err != nil || !allowed || !h.Config.Topics.AutoCreate || catalog.IsInternal(name) {
		return nil, kerr.UnknownTopicOrPartition
	}
	if !h.mayCluster(conn, kmsg.ACLOperationCreate) && !h.mayTopic(conn, kmsg.ACLOperationCreate, name) {
		return nil, kerr.TopicAuthorizationFailed
	}
	topic, err := h.createTopic(ctx, client, metastore.NewTopic{Name: name, Partitions: h.Config.Topics.Partitions})
	switch {
	case errors.Is(err, metastore.ErrTopicExists):
		// Another client was faster, or the name is still being freed.
		return h.topicFor(conn, h.Catalog.Snapshot(), kmsg.ACLOperationDescribe, name)
	case codeOf(err) == kerr.RequestTimedOut.Code:
		return nil, kerr.LeaderNotAvailable
	case err != nil:
		h.Logger.Warn().Err(err).Str("topic", name).Msg("topic could not be created automatically")
		return nil, err
	}
	h.awaitServed(ctx, topic, 0, client.until)
	return topic, nil
}
