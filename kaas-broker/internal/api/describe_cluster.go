package api

// DescribeCluster, key 60, v0-v2.
//
// v2 (Kafka 4.0) has fenced brokers too: there are none to show. This is a broker's endpoint, so asking for controllers is refused as Kafka does.
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// What kind of endpoints a client wants (KIP-919).
const (
	endpointBrokers     int8 = 1
	endpointControllers int8 = 2
)

func (h *Handlers) describeCluster(_ context.Context, r *protocol.Request, request *kmsg.DescribeClusterRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeClusterResponse](request)
	response.ClusterAuthorizedOperations = notAsked
	if request.Version >= 1 && request.EndpointType != endpointBrokers {
		refused, message := kerr.MismatchedEndpointType, "the request was sent to a broker, not to a controller"
		if request.EndpointType != endpointControllers {
			refused, message = kerr.UnsupportedEndpointType, "unsupported endpoint type"
		}
		response.ErrorCode, response.ErrorMessage = refused.Code, &message
		return response, nil
	}
	response.ClusterID = h.Broker.ClusterID
	response.ControllerID = h.Broker.NodeID
	self, broker := h.endpoint(r.Conn.Listener()), kmsg.NewDescribeClusterResponseBroker()
	broker.NodeID, broker.Host, broker.Port, broker.Rack = self.NodeID, self.Host, self.Port, self.Rack
	response.Brokers = []kmsg.DescribeClusterResponseBroker{broker}
	if request.IncludeClusterAuthorizedOperations {
		response.ClusterAuthorizedOperations = h.authorizedOperations(r.Conn, kmsg.ACLResourceTypeCluster, clusterResource)
	}
	return response, nil
}
