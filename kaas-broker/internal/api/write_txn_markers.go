package api

// WriteTxnMarkers, key 27, v0-v1.
//
// It ends a producer's transaction in some partitions. This broker's own coordinator does that without a request; what comes here is an administrator's abort of
// a transaction that hangs (kafka-transactions.sh abort, KIP-664), for which CLUSTER_ACTION is needed. A marker without an open transaction is written
// all the same, as in Kafka. The answer comes when the markers are durable.
//
// Deviations: there is no __consumer_offsets, in which Kafka keeps the offsets of transactions.

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func (h *Handlers) writeTxnMarkers(ctx context.Context, r *protocol.Request, request *kmsg.WriteTxnMarkersRequest) (kmsg.Response, error) {
	response := responseTo[*kmsg.WriteTxnMarkersResponse](request)
	allowed := h.mayCluster(r.Conn, kmsg.ACLOperationClusterAction)
	response.Markers = make([]kmsg.WriteTxnMarkersResponseMarker, len(request.Markers))
	var work sync.WaitGroup
	slots := make(chan struct{}, maxConcurrentGroups)
	for m := range request.Markers {
		marker, answer := &request.Markers[m], &response.Markers[m]
		answer.ProducerID = marker.ProducerID
		answer.Topics = make([]kmsg.WriteTxnMarkersResponseMarkerTopic, len(marker.Topics))
		for t, topic := range marker.Topics {
			answer.Topics[t].Topic = topic.Topic
			answer.Topics[t].Partitions = make([]kmsg.WriteTxnMarkersResponseMarkerTopicPartition, len(topic.Partitions))
			for i, index := range topic.Partitions {
				row := &answer.Topics[t].Partitions[i]
				if row.Partition = index; !allowed {
					row.ErrorCode = kerr.ClusterAuthorizationFailed.Code
					continue
				}
				slots <- struct{}{}
				work.Go(func() {
					defer func() { <-slots }()
					row.ErrorCode = codeOf(h.writeMarker(ctx, marker, topic.Topic, index))
				})
			}
		}
	}
	work.Wait()
	return response, ctx.Err()
}

func (h *Handlers) writeMarker(ctx context.Context, marker *kmsg.WriteTxnMarkersRequestMarker, name string, index int32) error {
	topic, known := h.Catalog.Snapshot().ByName(name)
	if !known {
		return kerr.UnknownTopicOrPartition
	}
	p, err := h.partition(topic, index)
	if err != nil {
		return err
	}
	if err := checkCoordinator(p, marker); err != nil {
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

// checkCoordinator refuses a marker of an earlier coordinator than the last one's.
func checkCoordinator(p *storage.Partition, marker *kmsg.WriteTxnMarkersRequestMarker) error {
	producers := p.Producers()
	at := slices.IndexFunc(producers, func(s storage.ProducerState) bool { return s.ID == marker.ProducerID })
	if at >= 0 && marker.ProducerEpoch >= producers[at].Epoch && marker.CoordinatorEpoch < producers[at].CoordinatorEpoch {
		return fmt.Errorf("the last coordinator had epoch %d: %w", producers[at].CoordinatorEpoch, kerr.TransactionCoordinatorFenced)
	}
	return nil
}
