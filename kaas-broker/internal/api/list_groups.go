package api

// ListGroups, key 16, v0-v4 (KIP-518: states from v4).
//
// A client that may describe the cluster sees all groups, others those that they may describe. The filter is case-sensitive, and a state that does not exist
// matches nothing.
//
// Deviations: slots that load are left out (Kafka: COORDINATOR_LOAD_IN_PROGRESS beside the groups), since tools ask every broker and fail as a whole.

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) listGroups(ctx context.Context, r *protocol.Request, request *kmsg.ListGroupsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.ListGroupsResponse](request)
	response.Groups = []kmsg.ListGroupsResponseGroup{}
	all, err := h.Groups.List(ctx)
	if err != nil {
		return nil, err
	}
	mayAll := h.mayCluster(r.Conn, kmsg.ACLOperationDescribe)
	for _, g := range all {
		switch {
		case len(request.StatesFilter) > 0 && !slices.Contains(request.StatesFilter, g.State.String()):
		case !mayAll && h.mayGroup(r.Conn, kmsg.ACLOperationDescribe, g.ID) != nil:
		default:
			row := kmsg.NewListGroupsResponseGroup()
			row.Group, row.ProtocolType, row.GroupState = g.ID, g.ProtocolType, g.State.String()
			response.Groups = append(response.Groups, row)
		}
	}
	return response, nil
}
