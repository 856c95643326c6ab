package api

// WriteTxnMarkers, key 27, v0-v1.
//
// It ends a producer's transaction in some partitions. This broker's own coordinator does that without a request; what comes here is an administrator's abort of
// a transaction that hangs (kafka-transactions.sh abort, KIP-664), for which CLUSTER_ACTION is needed. A marker without an open transaction is written
// all the same, as in Kafka. The answer comes when the markers are durable.
//
// Deviations: there is no __consumer_offsets, in which Kafka keeps the offsets of transactions. Each mention of a partition has a row.

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func (h *Handlers) writeTxnMarkers(ctx context.Context, r *protocol.Request, request *kmsg.WriteTxnMarkersRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.WriteTxnMarkersResponse](request)
	allowed := h.mayCluster(r.Conn, kmsg.ACLOperationClusterAction)
	snapshot := h.Catalog.Snapshot()
	response.Markers = make([]kmsg.WriteTxnMarkersResponseMarker, len(request.Markers))
	for m := range request.Markers {
		marker, answer := &request.Markers[m], &response.Markers[m]
		answer.ProducerID = marker.ProducerID
		answer.Topics = make([]kmsg.WriteTxnMarkersResponseMarkerTopic, len(marker.Topics))
		for t, wanted := range marker.Topics {
			answer.Topics[t].Topic = wanted.Topic
			var topic *catalog.Topic
			err := error(kerr.ClusterAuthorizationFailed)
			if allowed {
				topic, err = findTopic(snapshot, wanted.Topic)
			}
			answer.Topics[t].Partitions = h.markTopic(ctx, marker, topic, err, wanted.Partitions)
		}
	}
	return response, ctx.Err()
}

// markTopic writes a marker to partitions of one topic, once to each, and answers each mention. refused is why there is no topic.
func (h *Handlers) markTopic(
	ctx context.Context, marker *kmsg.WriteTxnMarkersRequestMarker, topic *catalog.Topic, refused error, partitions []int32,
) []kmsg.WriteTxnMarkersResponseMarkerTopicPartition {
	rows := make([]kmsg.WriteTxnMarkersResponseMarkerTopicPartition, len(partitions))
	distinct := once(partitions)
	errs := make([]error, len(distinct))
	inParallel(len(distinct), func(i int) {
		if errs[i] = refused; refused == nil {
			errs[i] = h.writeMarker(ctx, marker, topic, distinct[i])
		}
	})
	codes := make(map[int32]int16, len(distinct))
	for i, index := range distinct {
		codes[index] = codeOf(errs[i])
	}
	for i, index := range partitions {
		rows[i].Partition, rows[i].ErrorCode = index, codes[index]
	}
	return rows
}

func (h *Handlers) writeMarker(ctx context.Context, marker *kmsg.WriteTxnMarkersRequestMarker, topic *catalog.Topic, index int32) error {
	p, err := h.partition(topic, index)
	if err != nil {
		return err
	}
	ticket, err := p.AppendMarker(storage.MarkerAppend{
		ProducerID: marker.ProducerID, Epoch: marker.ProducerEpoch,
		Marker: batch.Marker{Commit: marker.Committed, CoordinatorEpoch: marker.CoordinatorEpoch},
	})
	if err != nil {
		return err
	}
	return ticket.WaitDurable(ctx)
}
