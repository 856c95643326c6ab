package api

import (
	"context"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// Groups coordinates the consumer groups of this broker's slots. See coordinator.Coordinator for the errors.
type Groups interface {
	Status(id string) error
	Join(ctx context.Context, id string, r group.JoinRequest) (group.JoinResult, error)
	Sync(ctx context.Context, id string, r group.SyncRequest) (group.SyncResult, error)
	Heartbeat(ctx context.Context, id string, member group.Identity) error
	Leave(ctx context.Context, id string, members []group.LeaveRequest) ([]error, error)
	Commit(ctx context.Context, id string, r coordinator.CommitRequest) ([]error, error)
	Fetch(ctx context.Context, id string, r coordinator.FetchRequest) ([]coordinator.FetchedOffset, error)
	Describe(ctx context.Context, id string) (group.Description, error)
	List(ctx context.Context) ([]coordinator.Listed, error)
	Delete(ctx context.Context, id string) error
	DeleteOffsets(ctx context.Context, id string, partitions []offset.Partition) ([]error, error)
}

// mayGroup is GROUP_AUTHORIZATION_FAILED for a client that may not do operation on a group, existing or not.
func (h *Handlers) mayGroup(conn *protocol.Conn, operation kmsg.ACLOperation, id string) error {
	if !h.Authorizer.Authorize(conn, operation, kmsg.ACLResourceTypeGroup, id) {
		return kerr.GroupAuthorizationFailed
	}
	return nil
}

// whileServing returns a context that ends with ctx or when the server begins to drain: members that wait for each other would hold the end of the
// broker up. Whoever waited is told NOT_COORDINATOR, which is the cause of its end.
func whileServing(ctx context.Context, conn *protocol.Conn) (context.Context, context.CancelFunc) {
	serving, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-conn.Draining():
			cancel(coordinator.ErrNotCoordinator)
		case <-serving.Done():
		}
	}()
	return serving, func() { cancel(context.Canceled) }
}

// hostOf is a client's address as Kafka shows it.
func hostOf(conn *protocol.Conn) string {
	if conn.Remote() == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(conn.Remote().String())
	if err != nil {
		return ""
	}
	return "/" + host
}

// textOf is a text that may be missing.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
