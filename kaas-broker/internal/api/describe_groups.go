package api

// DescribeGroups, key 15, v0-v5 (KIP-430: authorized operations from v3, KIP-345: instance ids from v4).
//
// A group that does not exist is Dead, without an error.
//
// Deviations: INVALID_REQUEST for the groups that have no room in an answer of 64 MiB.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) describeGroups(ctx context.Context, r *protocol.Request, request *kmsg.DescribeGroupsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DescribeGroupsResponse](request)
	room := roomFor(r)
	defer room.fit()
	response.Groups = make([]kmsg.DescribeGroupsResponseGroup, len(request.Groups))
	inParallel(len(request.Groups), func(i int) {
		response.Groups[i] = h.describeGroup(ctx, r.Conn, room, request.Groups[i])
	})
	for i := range response.Groups {
		if row := &response.Groups[i]; request.IncludeAuthorizedOperations && row.ErrorCode == 0 {
			row.AuthorizedOperations = h.authorizedOperations(r.Conn, kmsg.ACLResourceTypeGroup, row.Group)
		}
	}
	return response, ctx.Err()
}

func (h *Handlers) describeGroup(ctx context.Context, conn *protocol.Conn, room *answerRoom, id string) kmsg.DescribeGroupsResponseGroup {
	row := kmsg.NewDescribeGroupsResponseGroup()
	row.Group, row.AuthorizedOperations, row.Members = id, notAsked, []kmsg.DescribeGroupsResponseGroupMember{}
	described := group.Description{}
	err := h.mayGroup(conn, kmsg.ACLOperationDescribe, id)
	if err == nil {
		err = room.left()
	}
	if err == nil {
		described, err = h.Groups.Describe(ctx, id)
	}
	if err == nil {
		err = room.take(ctx, sizeOfGroup(described))
	}
	if err != nil {
		row.ErrorCode = codeOf(err)
		return row
	}
	row.State, row.ProtocolType, row.Protocol = described.State.String(), described.ProtocolType, described.Protocol
	for _, m := range described.Members {
		member := kmsg.NewDescribeGroupsResponseGroupMember()
		member.MemberID, member.InstanceID, member.ClientID, member.ClientHost = m.MemberID, m.InstanceID, m.ClientID, m.ClientHost
		member.ProtocolMetadata, member.MemberAssignment = m.Metadata, m.Assignment
		row.Members = append(row.Members, member)
	}
	return row
}

// sizeOfGroup is about what a group takes in the answer.
func sizeOfGroup(described group.Description) int {
	size := rowBytes
	for _, m := range described.Members {
		size += rowBytes + len(m.MemberID) + len(m.ClientID) + len(m.ClientHost) + len(m.Metadata) + len(m.Assignment)
	}
	return size
}
