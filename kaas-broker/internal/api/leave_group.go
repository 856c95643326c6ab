package api

// LeaveGroup, key 13, v0-v5 (KIP-345: several members, static ones by their instance ids, from v3; KIP-800: reasons from v5).
//
// Before v3 the member's error is the answer's; from v3 on it stands beside the member.
//
// Deviations: none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// leaveSeveral is the first version with more than one member.
const leaveSeveral = 3

func (h *Handlers) leaveGroup(ctx context.Context, r *protocol.Request, request *kmsg.LeaveGroupRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.LeaveGroupResponse](request)
	response.Members = []kmsg.LeaveGroupResponseMember{}
	if err := h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group); err != nil {
		response.ErrorCode = codeOf(err)
		return response, nil
	}
	members := leaving(request)
	for _, member := range members {
		h.noteReason(ctx, "leave", member.Reason)
	}
	results, err := h.Groups.Leave(ctx, request.Group, members)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case err != nil:
		response.ErrorCode = codeOf(err)
	case request.Version < leaveSeveral:
		response.ErrorCode = codeOf(results[0])
	default:
		for i, result := range results {
			row := kmsg.NewLeaveGroupResponseMember()
			row.MemberID, row.InstanceID, row.ErrorCode = members[i].MemberID, members[i].InstanceID, codeOf(result)
			response.Members = append(response.Members, row)
		}
	}
	return response, nil
}

func leaving(request *kmsg.LeaveGroupRequest) []group.LeaveRequest {
	if request.Version < leaveSeveral {
		return []group.LeaveRequest{{MemberID: request.MemberID}}
	}
	members := make([]group.LeaveRequest, len(request.Members))
	for i, m := range request.Members {
		members[i] = group.LeaveRequest{MemberID: m.MemberID, InstanceID: m.InstanceID, Reason: textOf(m.Reason)}
	}
	return members
}
