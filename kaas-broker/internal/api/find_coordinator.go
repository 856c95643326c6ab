package api

// FindCoordinator, key 10, v0-v4 (KIP-699: several keys from v4).
//
// The coordinator is told with the address of the listener that the client came on, the same as in Metadata. A group or transactional id whose slot is not led yet is answered
// COORDINATOR_NOT_AVAILABLE, so that nobody is sent to a broker that would answer NOT_COORDINATOR; one whose slot loads is led.
//
// Deviations: there is no __consumer_offsets or __transaction_state topic to be made on the first call.

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// What FindCoordinator can be asked for.
const (
	coordinatorOfGroup       int8 = 0
	coordinatorOfTransaction int8 = 1
)

// noError is what Kafka says where there is no error, before v4.
const noError = "NONE"

// findSeveral is the first version with more than one key.
const findSeveral = 4

func (h *Handlers) findCoordinator(ctx context.Context, r *protocol.Request, request *kmsg.FindCoordinatorRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.FindCoordinatorResponse](request)
	if request.Version >= findSeveral {
		for _, key := range request.CoordinatorKeys {
			response.Coordinators = append(response.Coordinators, h.coordinatorOf(r.Conn, request.CoordinatorType, key))
		}
		return response, ctx.Err()
	}
	found := h.coordinatorOf(r.Conn, request.CoordinatorType, request.CoordinatorKey)
	if found.ErrorCode == 0 {
		found.ErrorMessage = kmsg.StringPtr(noError)
	}
	response.ErrorCode, response.ErrorMessage = found.ErrorCode, found.ErrorMessage
	response.NodeID, response.Host, response.Port = found.NodeID, found.Host, found.Port
	return response, ctx.Err()
}

func (h *Handlers) coordinatorOf(conn *protocol.Conn, of int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	row := kmsg.NewFindCoordinatorResponseCoordinator()
	row.Key, row.NodeID, row.Port, row.ErrorMessage = key, -1, -1, new(string)
	if err := h.coordinates(conn, of, key); err != nil {
		row.ErrorCode, row.ErrorMessage = plainly(err)
		return row
	}
	self := h.endpoint(conn.Listener())
	row.NodeID, row.Host, row.Port = self.NodeID, self.Host, self.Port
	return row
}

// coordinates returns nil when this broker is the coordinator and the client may know it.
func (h *Handlers) coordinates(conn *protocol.Conn, of int8, key string) error {
	switch of {
	case coordinatorOfGroup:
		if err := h.mayGroup(conn, kmsg.ACLOperationDescribe, key); err != nil {
			return err
		}
		return served(h.Groups.Status(key))
	case coordinatorOfTransaction:
		if err := h.mayTransact(conn, kmsg.ACLOperationDescribe, key); err != nil {
			return err
		}
		return served(h.Transactions.Status(key))
	default:
		return kerr.InvalidRequest
	}
}

// served is nil for a slot that this broker leads, although it may still load.
func served(status error) error {
	if status == nil || errors.Is(status, coordinator.ErrLoading) {
		return nil
	}
	return kerr.CoordinatorNotAvailable
}
