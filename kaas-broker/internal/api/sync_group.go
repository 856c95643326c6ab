package api

// SyncGroup, key 14, v0-v5 (KIP-345: static members from v3, KIP-559: type and name of the protocol from v5).
//
// The answer comes when the leader has assigned. Until then the request holds its connection, as in Kafka.
//
// Deviations: when the broker drains, members that wait are answered NOT_COORDINATOR. COORDINATOR_NOT_AVAILABLE to a leader whose assignment has no room, as for
// JoinGroup.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// syncWithProtocol is the first version that names the protocol.
const syncWithProtocol = 5

func (h *Handlers) syncGroup(ctx context.Context, r *protocol.Request, request *kmsg.SyncGroupRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.SyncGroupResponse](request)
	response.MemberAssignment = []byte{}
	if err := h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group); err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	serving, done := whileServing(ctx, r.Conn)
	defer done()
	sync := syncRequest(request)
	sync.Kept = func() {
		request.GroupAssignment = nil
		r.Forget()
	}
	result, err := h.Groups.Sync(serving, request.Group, sync)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	response.ProtocolType, response.Protocol = &result.ProtocolType, &result.Protocol
	response.MemberAssignment = result.Assignment
	return response, nil
}

func syncRequest(request *kmsg.SyncGroupRequest) group.SyncRequest {
	sync := group.SyncRequest{
		Identity:        group.Identity{MemberID: request.MemberID, InstanceID: request.InstanceID, Generation: request.Generation},
		RequireProtocol: request.Version >= syncWithProtocol,
		ProtocolType:    request.ProtocolType,
		Protocol:        request.Protocol,
		Assignments:     make([]group.Assignment, len(request.GroupAssignment)),
	}
	for i, a := range request.GroupAssignment {
		sync.Assignments[i] = group.Assignment{MemberID: a.MemberID, Data: a.MemberAssignment}
	}
	return sync
}
