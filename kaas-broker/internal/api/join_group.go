package api

// JoinGroup, key 11, v0-v9 (KIP-345: static members from v5, KIP-394: MEMBER_ID_REQUIRED from v4, KIP-800: reasons from v8, KIP-814: v9).
//
// The answer comes when the members of the group have joined. Until then the request holds its connection, as in Kafka; a client that leaves stays a
// member until its session ends.
//
// Deviations: what the members of a group offer may take 16 MiB together, else GROUP_MAX_SIZE_REACHED. Members above 64 KiB may take 128 MiB in all groups
// together, else COORDINATOR_NOT_AVAILABLE. A protocol that is named twice counts once (Kafka: UNKNOWN_SERVER_ERROR). When the broker drains, members that
// wait are answered NOT_COORDINATOR and join again elsewhere.

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// The versions of JoinGroup from which on something changes.
const (
	joinWithRebalanceTimeout = 1
	joinWithRequiredID       = 4
	joinWithSkipAssignment   = 9
)

func (h *Handlers) joinGroup(ctx context.Context, r *protocol.Request, request *kmsg.JoinGroupRequest) (kmsg.Response, error) {
	if err := h.mayGroup(r.Conn, kmsg.ACLOperationRead, request.Group); err != nil {
		return joinResponse(request, group.JoinResult{Err: err, MemberID: request.MemberID}), nil
	}
	serving, done := whileServing(ctx, r.Conn)
	defer done()
	join := joinRequest(r, request)
	h.noteReason(ctx, "join", join.Reason)
	join.Kept = func() {
		request.Protocols = nil
		r.Forget()
	}
	result, err := h.Groups.Join(serving, request.Group, join)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	result.Err = err
	return joinResponse(request, result), nil
}

func joinRequest(r *protocol.Request, request *kmsg.JoinGroupRequest) group.JoinRequest {
	join := group.JoinRequest{
		MemberID:          request.MemberID,
		InstanceID:        request.InstanceID,
		ClientID:          textOf(r.Header.ClientID),
		ClientHost:        hostOf(r.Conn),
		SessionTimeout:    time.Duration(request.SessionTimeoutMillis) * time.Millisecond,
		RebalanceTimeout:  time.Duration(request.RebalanceTimeoutMillis) * time.Millisecond,
		ProtocolType:      request.ProtocolType,
		Protocols:         make([]group.Protocol, len(request.Protocols)),
		Reason:            textOf(request.Reason),
		RequireMemberID:   request.Version >= joinWithRequiredID,
		CanSkipAssignment: request.Version >= joinWithSkipAssignment,
	}
	if request.Version < joinWithRebalanceTimeout {
		join.RebalanceTimeout = join.SessionTimeout
	}
	for i, p := range request.Protocols {
		join.Protocols[i] = group.Protocol{Name: p.Name, Metadata: p.Metadata}
	}
	return join
}

func joinResponse(request *kmsg.JoinGroupRequest, result group.JoinResult) *kmsg.JoinGroupResponse {
	response := responseTo[*kmsg.JoinGroupResponse](request)
	response.MemberID, response.Members = result.MemberID, []kmsg.JoinGroupResponseMember{}
	if result.Err != nil {
		response.ErrorCode, response.Generation = codeOf(result.Err), -1
		return response
	}
	response.Generation, response.LeaderID, response.SkipAssignment = result.Generation, result.Leader, result.SkipAssignment
	response.ProtocolType, response.Protocol = &result.ProtocolType, &result.Protocol
	for _, member := range result.Members {
		row := kmsg.NewJoinGroupResponseMember()
		row.MemberID, row.InstanceID, row.ProtocolMetadata = member.MemberID, member.InstanceID, member.Metadata
		response.Members = append(response.Members, row)
	}
	return response
}
