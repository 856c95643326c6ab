package api

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// configResource is what configuration belongs to.
type configResource struct {
	kind kmsg.ConfigResourceType
	name string
}

// mayConfig returns the error for a client that may not do operation on the resource's configuration. Everything but topics belongs to the cluster.
func (h *Handlers) mayConfig(conn *protocol.Conn, operation kmsg.ACLOperation, resource configResource) error {
	switch {
	case resource.kind == kmsg.ConfigResourceTypeTopic && !h.mayTopic(conn, operation, resource.name):
		return kerr.TopicAuthorizationFailed
	case resource.kind != kmsg.ConfigResourceTypeTopic && !h.mayCluster(conn, operation):
		return kerr.ClusterAuthorizationFailed
	}
	return nil
}

// checkResource judges the resource's type and name. The empty name of a broker stands for the defaults of all brokers.
func (h *Handlers) checkResource(resource configResource) error {
	switch resource.kind {
	case kmsg.ConfigResourceTypeTopic:
		if err := catalog.ValidateName(resource.name); err != nil && kafkaError(err) == kerr.InvalidTopicException {
			return err
		}
		return nil
	case kmsg.ConfigResourceTypeBroker:
		if resource.name == "" {
			return nil
		}
		return h.checkBrokerName(resource.name)
	case kmsg.ConfigResourceTypeBrokerLogger:
		return h.checkBrokerName(resource.name)
	case kmsg.ConfigResourceTypeClientMetrics:
		if resource.name == "" {
			return refuse(kerr.InvalidRequest, "a client metrics subscription needs a name")
		}
		return nil
	default:
		return refuse(kerr.InvalidRequest, "unknown resource type %d", int8(resource.kind))
	}
}

// checkBrokerName accepts the id of this broker only.
func (h *Handlers) checkBrokerName(name string) error {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return refuse(kerr.InvalidRequest, "the broker id has to be a number, not %q", name)
	}
	if int32(id) != h.Broker.NodeID {
		return refuse(kerr.InvalidRequest, "this is broker %d, the request is for broker %d", h.Broker.NodeID, id)
	}
	return nil
}
