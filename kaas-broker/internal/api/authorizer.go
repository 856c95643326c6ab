package api

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// Authorizer decides what the client of a connection may do. Implementations never block and are safe for concurrent use.
type Authorizer interface {
	// Authorize reports whether conn's principal may do operation on the named resource. The cluster's name is "kafka-cluster".
	Authorize(conn *protocol.Conn, operation kmsg.ACLOperation, resource kmsg.ACLResourceType, name string) bool
}

// allowAll is the authorizer of a broker without access control.
type allowAll struct{}

func (allowAll) Authorize(*protocol.Conn, kmsg.ACLOperation, kmsg.ACLResourceType, string) bool {
	return true
}

const clusterResource = "kafka-cluster"

// notAsked stands for authorized operations that the client did not ask for (KIP-430).
const notAsked int32 = -1 << 31

// The operations that exist on each type of resource (Kafka's AclEntry.supportedOperations).
var (
	topicOperations = [...]kmsg.ACLOperation{
		kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationCreate, kmsg.ACLOperationDescribe, kmsg.ACLOperationDelete,
		kmsg.ACLOperationAlter, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationAlterConfigs,
	}
	groupOperations = [...]kmsg.ACLOperation{
		kmsg.ACLOperationRead, kmsg.ACLOperationDelete, kmsg.ACLOperationDescribe,
	}
	clusterOperations = [...]kmsg.ACLOperation{
		kmsg.ACLOperationCreate, kmsg.ACLOperationClusterAction, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationAlterConfigs,
		kmsg.ACLOperationIdempotentWrite, kmsg.ACLOperationAlter, kmsg.ACLOperationDescribe,
	}
)

// mayTopic reports whether the client may do operation on a topic, existing or not.
func (h *Handlers) mayTopic(conn *protocol.Conn, operation kmsg.ACLOperation, topic string) bool {
	return h.Authorizer.Authorize(conn, operation, kmsg.ACLResourceTypeTopic, topic)
}

// mayCluster reports whether the client may do operation on the cluster.
func (h *Handlers) mayCluster(conn *protocol.Conn, operation kmsg.ACLOperation) bool {
	return h.Authorizer.Authorize(conn, operation, kmsg.ACLResourceTypeCluster, clusterResource)
}

// authorizedOperations is the bit set of what the client may do (KIP-430): bit n for the operation with code n.
func (h *Handlers) authorizedOperations(conn *protocol.Conn, resource kmsg.ACLResourceType, name string) int32 {
	operations := topicOperations[:]
	switch resource { //nolint:exhaustive // what else is asked about has the operations of a topic
	case kmsg.ACLResourceTypeCluster:
		operations = clusterOperations[:]
	case kmsg.ACLResourceTypeGroup:
		operations = groupOperations[:]
	}
	var bits int32
	for _, operation := range operations {
		if h.Authorizer.Authorize(conn, operation, resource, name) {
			bits |= 1 << operation
		}
	}
	return bits
}
