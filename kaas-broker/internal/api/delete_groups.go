package api

// DeleteGroups, key 42, v0-v2 (KIP-229).
//
// A group goes with all of its offsets, durably, those of open transactions included. It must have no members.
//
// Deviations: rows are in the order of the request; Kafka's have none.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) deleteGroups(ctx context.Context, r *protocol.Request, request *kmsg.DeleteGroupsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DeleteGroupsResponse](request)
	ids := once(request.Groups)
	response.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(ids))
	inParallel(len(ids), func(i int) {
		err := h.mayGroup(r.Conn, kmsg.ACLOperationDelete, ids[i])
		if err == nil {
			err = h.Groups.Delete(ctx, ids[i])
		}
		row := &response.Groups[i]
		row.Default()
		row.Group, row.ErrorCode = ids[i], codeOf(err)
	})
	return response, ctx.Err()
}
