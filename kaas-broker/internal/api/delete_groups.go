package api

// DeleteGroups, key 42, v0-v2 (KIP-229).
//
// A group goes with all of its offsets, durably, those of open transactions included. It must have no members.
//
// Deviations: rows are in the order of the request; Kafka's have none.

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func (h *Handlers) deleteGroups(ctx context.Context, r *protocol.Request, request *kmsg.DeleteGroupsRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.DeleteGroupsResponse](request)
	ids := once(request.Groups)
	response.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(ids))
	var work sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentGroups)
	for i, id := range ids {
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

// once leaves the first mention of each text.
func once(ids []string) []string {
	named := make(map[string]bool, len(ids))
	var each []string
	for _, id := range ids {
		if !named[id] {
			named[id] = true
			each = append(each, id)
		}
	}
	return each
}
