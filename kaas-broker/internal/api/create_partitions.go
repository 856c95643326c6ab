package api

// CreatePartitions, key 37, v0-v3 (KIP-195).
//
// The count is the new total and must be above the present one. Every topic gets one row. The answer comes when the new partitions are durable, known to
// Metadata, and served or the client's time is up.
//
// Deviations: a topic stays within 10,000 partitions, and one request within 10,000 new ones (POLICY_VIOLATION; Kafka answers UNKNOWN_SERVER_ERROR).

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// growth is one topic of a request that is to get more partitions.
type growth struct {
	wanted *kmsg.CreatePartitionsRequestTopic
	before int32
	topic  *catalog.Topic // what became of it
	err    error
}

func (h *Handlers) createPartitions(ctx context.Context, r *protocol.Request, request *kmsg.CreatePartitionsRequest) (kmsg.Response, error) {
	growths := h.planGrowth(r.Conn, request)
	client := patienceOf(r, request.TimeoutMillis)
	for _, g := range growths {
		if g.err == nil {
			g.topic, g.err = h.growTopic(ctx, client, g.wanted, request.ValidateOnly)
		}
	}
	response := responseTo[*kmsg.CreatePartitionsResponse](request)
	for _, g := range growths {
		if g.err == nil && !request.ValidateOnly {
			h.awaitServed(ctx, g.topic, g.before, client.until)
		}
		row := kmsg.NewCreatePartitionsResponseTopic()
		row.Topic = g.wanted.Topic
		row.ErrorCode, row.ErrorMessage = h.refusalOf("topic "+g.wanted.Topic, g.err)
		response.Topics = append(response.Topics, row)
	}
	return response, ctx.Err()
}

// planGrowth judges what can be judged without changing anything. A name that is given twice gets one row.
func (h *Handlers) planGrowth(conn *protocol.Conn, request *kmsg.CreatePartitionsRequest) []*growth {
	twice := repeated(request.Topics, func(t *kmsg.CreatePartitionsRequestTopic) string { return t.Topic })
	snapshot := h.Catalog.Snapshot()
	answered := map[string]bool{}
	var growths []*growth
	var total partitionCount
	for i := range request.Topics {
		g := &growth{wanted: &request.Topics[i]}
		switch name := g.wanted.Topic; {
		case answered[name]:
			continue
		case twice[name]:
			answered[name] = true
			g.err = errTopicTwice
		default:
			g.before, g.err = h.checkGrowth(conn, snapshot, g.wanted)
		}
		if g.err == nil {
			total.add(g.wanted.Count - g.before)
		}
		growths = append(growths, g)
	}
	if total.tooMany() {
		for _, g := range growths {
			if g.err == nil {
				g.err = errTooManyPartitions
			}
		}
	}
	return growths
}

// checkGrowth returns the present number of partitions.
func (h *Handlers) checkGrowth(conn *protocol.Conn, snapshot *catalog.Snapshot, wanted *kmsg.CreatePartitionsRequestTopic) (int32, error) {
	topic, err := h.topicFor(conn, snapshot, kmsg.ACLOperationAlter, wanted.Topic)
	switch {
	case err != nil:
		return 0, err
	case wanted.Count == topic.Partitions:
		return 0, refuse(kerr.InvalidPartitions, "the topic has %d partitions already", topic.Partitions)
	case wanted.Count < topic.Partitions:
		return 0, refuse(kerr.InvalidPartitions, "the topic has %d partitions; %d would be fewer", topic.Partitions, wanted.Count)
	case wanted.Assignment == nil:
		return topic.Partitions, nil
	}
	if added := wanted.Count - topic.Partitions; int64(len(wanted.Assignment)) != int64(added) {
		return 0, refuse(kerr.InvalidReplicaAssignment, "%d partitions are to be added, but %d are assigned", added, len(wanted.Assignment))
	}
	for _, partition := range wanted.Assignment {
		if err := h.checkReplicas(partition.Replicas); err != nil {
			return 0, err
		}
	}
	return topic.Partitions, nil
}

func (h *Handlers) growTopic(ctx context.Context, client patience, wanted *kmsg.CreatePartitionsRequestTopic, validateOnly bool) (grown *catalog.Topic, err error) {
	err = client.change(ctx, func(ctx context.Context) error {
		grown, err = h.Topics.CreatePartitions(ctx, wanted.Topic, wanted.Count, validateOnly)
		return err
	})
	return grown, err
}
