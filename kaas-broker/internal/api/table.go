package api

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// The keys that code other than the table refers to.
const (
	keyProduce int16 = 0
	keyFetch   int16 = 1
)

// Table lists the APIs that this broker serves. Only these are advertised.
func (h *Handlers) Table() []protocol.API {
	return []protocol.API{
		{Key: keyProduce, Pipelined: true, Start: atOnce(h.produce)},
		{Key: keyFetch, Pipelined: true, Start: atOnce(h.fetch)},
		{Key: 2, Start: inTurn(h.listOffsets)},
		{Key: 3, Start: inTurn(h.metadata)},
		{Key: 8, Start: inTurn(h.offsetCommit)},
		{Key: 9, Start: inTurn(h.offsetFetch)},
		{Key: 10, Start: inTurn(h.findCoordinator)},
		{Key: 11, Start: inTurn(h.joinGroup)},
		{Key: 12, Start: inTurn(h.heartbeat)},
		{Key: 13, Start: inTurn(h.leaveGroup)},
		{Key: 14, Start: inTurn(h.syncGroup)},
		{Key: 15, Start: inTurn(h.describeGroups)},
		{Key: 16, Start: inTurn(h.listGroups)},
		{Key: 19, Start: inTurn(h.createTopics)},
		{Key: 20, Start: inTurn(h.deleteTopics)},
		{Key: 21, Start: inTurn(h.deleteRecords)},
		{Key: 22, Start: inTurn(h.initProducerID)},
		{Key: 23, Start: inTurn(h.offsetForLeaderEpoch)},
		{Key: 24, Start: inTurn(h.addPartitionsToTxn)},
		{Key: 25, Start: inTurn(h.addOffsetsToTxn)},
		{Key: 26, Start: inTurn(h.endTxn)},
		{Key: 27, Start: inTurn(h.writeTxnMarkers)},
		{Key: 28, Start: inTurn(h.txnOffsetCommit)},
		{Key: 32, Start: inTurn(h.describeConfigs)},
		{Key: 37, Start: inTurn(h.createPartitions)},
		{Key: 42, Start: inTurn(h.deleteGroups)},
		{Key: 44, Start: inTurn(h.incrementalAlterConfigs)},
		{Key: 47, Start: inTurn(h.offsetDelete)},
		{Key: 60, Start: inTurn(h.describeCluster)},
		{Key: 61, Start: inTurn(h.describeProducers)},
		{Key: 65, Start: inTurn(h.describeTransactions)},
		{Key: 66, Start: inTurn(h.listTransactions)},
		{Key: 75, Start: inTurn(h.describeTopicPartitions)},
	}
}

// atOnce makes a row's Start of a handler that begins when its request has been read.
func atOnce[M kmsg.Request](begin func(ctx context.Context, r *protocol.Request, message M) protocol.FinishFunc) protocol.StartFunc {
	return func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
		message, is := r.Message.(M)
		if !is {
			return func(context.Context) (protocol.Reply, error) { return protocol.Reply{}, mismatch(r) }
		}
		return begin(ctx, r, message)
	}
}

// inTurn makes a row's Start of a handler that does all its work when its turn to answer has come. An error of handle closes the connection: what a
// client is to be told belongs into the response.
func inTurn[M kmsg.Request](handle func(ctx context.Context, r *protocol.Request, message M) (kmsg.Response, error)) protocol.StartFunc {
	return func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(ctx context.Context) (protocol.Reply, error) {
			message, is := r.Message.(M)
			if !is {
				return protocol.Reply{}, mismatch(r)
			}
			response, err := handle(ctx, r, message)
			return protocol.Reply{Message: response}, err
		}
	}
}

// mismatch is why a connection ends whose request does not hold what its key says.
func mismatch(r *protocol.Request) error {
	return fmt.Errorf("request of key %d holds a %T", r.Header.Key, r.Message)
}

// responseTo returns the response kind of a request, at its version and with defaults.
func responseTo[R kmsg.Response](request kmsg.Request) R {
	return request.ResponseKind().(R)
}
