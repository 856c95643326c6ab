package api

// Heartbeat, key 12, v0-v4 (KIP-345: static members from v3).
//
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) heartbeat(ctx context.Context, r *protocol.Request, request *kmsg.HeartbeatRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.HeartbeatResponse](request)
	err := h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group)
	if err == nil {
		member := group.Identity{MemberID: request.MemberID, InstanceID: request.InstanceID, Generation: request.Generation}
		err = h.Groups.Heartbeat(ctx, request.Group, member)
	}
	response.ErrorCode = codeOf(err)
	return response, ctx.Err()
}
