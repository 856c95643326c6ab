package api

import (
	"github.com/twmb/franz-go/pkg/kerr"
)

// checkReplicas judges the replicas that a client wants for one partition, as Kafka does when this is its only broker.
func (h *Handlers) checkReplicas(replicas []int32) error {
	if len(replicas) == 0 {
		return refuse(kerr.InvalidReplicaAssignment, "a partition's manual assignment has no replica")
	}
	seen := map[int32]bool{}
	for _, broker := range replicas {
		switch {
		case broker != h.Broker.NodeID:
			return refuse(kerr.InvalidReplicaAssignment, "the manual assignment names broker %d, which does not exist", broker)
		case seen[broker]:
			return refuse(kerr.InvalidReplicaAssignment, "the manual assignment names broker %d more than once for one partition", broker)
		}
		seen[broker] = true
	}
	return nil
}
