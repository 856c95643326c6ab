package api

// DeleteGroups, key 42, v0-v2 (KIP-229).
//
// A group goes with all of its offsets, durably, those of open transactions included. It must have no members.
//
// Deviations: a group that is named twice gets two rows, of which the second says GROUP_ID_NOT_FOUND (Kafka: one).

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) deleteGroups(ctx context.Context, r *protocol.Request, request *kmsg.DeleteGroupsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DeleteGroupsResponse](request)
	response.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(request.Groups))
	var work sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentGroups)
	for i, id := range request.Groups {
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			err := h.mayGroup(r.Conn, kmsg.ACLOperationDelete, id)
			if err == nil {
				err = h.Groups.Delete(ctx, id)
			}
			row := &response.Groups[i]
			row.Default()
			row.Group, row.ErrorCode = id, codeOf(err)
		})
	}
	work.Wait()
	return response, ctx.Err()
}
