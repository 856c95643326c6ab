package api

import "github.com/twmb/franz-go/pkg/kmsg"

// Identity is who this broker is, as clients are told.
type Identity struct {
	ClusterID string
	NodeID    int32
	// Rack is empty when there is none.
	Rack string
	// Advertised is where clients of the named listener reach this broker.
	Advertised func(listener string) (host string, port int32)
}

// endpoint is this broker as clients of a listener reach it. The rows of other APIs have the same fields and are converted from it.
func (h *Handlers) endpoint(listener string) kmsg.MetadataResponseBroker {
	row := kmsg.NewMetadataResponseBroker()
	row.NodeID = h.Broker.NodeID
	row.Host, row.Port = h.Broker.Advertised(listener)
	if rack := h.Broker.Rack; rack != "" {
		row.Rack = &rack
	}
	return row
}
