package api

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// partitionName is a partition as requests name it.
type partitionName struct {
	topic string
	index int32
}

// topicFor finds a topic by name for a client that wants to do operation on it. Whether a topic exists is not told to who may not know.
func (h *Handlers) topicFor(conn *protocol.Conn, snapshot *catalog.Snapshot, operation kmsg.ACLOperation, name string) (*catalog.Topic, error) {
	if !h.mayTopic(conn, operation, name) {
		return nil, kerr.TopicAuthorizationFailed
	}
	return findTopic(snapshot, name)
}

func findTopic(snapshot *catalog.Snapshot, name string) (*catalog.Topic, error) {
	topic, known := snapshot.ByName(name)
	if !known {
		return nil, kerr.UnknownTopicOrPartition
	}
	return topic, nil
}

// partition finds an open partition without waiting.
func (h *Handlers) partition(topic *catalog.Topic, index int32) (*storage.Partition, error) {
	if !topic.HasPartition(index) {
		return nil, kerr.UnknownTopicOrPartition
	}
	return h.Partitions.Partition(topic, index)
}

// awaitServed returns when the topic's partitions from first on are served or have failed once, so that the first produce after the answer finds a leader,
// or when the client's time is up. What was changed is changed whether they are served or not.
func (h *Handlers) awaitServed(ctx context.Context, topic *catalog.Topic, first int32, until time.Time) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for index := first; index < topic.Partitions && ctx.Err() == nil; index++ {
		// What became of it is the business of whoever uses the partition.
		_, _ = h.Partitions.Await(ctx, topic, index)
	}
}

// partitionAt is partition for a client that may say which leader epoch it believes to be current.
func (h *Handlers) partitionAt(topic *catalog.Topic, index, believed int32) (*storage.Partition, error) {
	p, err := h.partition(topic, index)
	if err != nil {
		return nil, err
	}
	return p, checkLeaderEpoch(p, believed)
}

// checkLeaderEpoch compares the epoch that a client believes to be current with the partition's (KIP-320); -1 is not checked.
func checkLeaderEpoch(p *storage.Partition, believed int32) error {
	switch epoch := int32(p.Epoch()); {
	case believed < 0 || believed == epoch:
		return nil
	case believed < epoch:
		return kerr.FencedLeaderEpoch
	default:
		return kerr.UnknownLeaderEpoch
	}
}

// leads reports whether a partition's leadership has not ended, as far as is known here.
func leads(p *storage.Partition) bool {
	select {
	case <-p.Done():
		return false
	default:
		return true
	}
}

// leaderHint is the leader and epoch of a partition, for clients that asked the wrong way (KIP-951). It is false while there is none.
func (h *Handlers) leaderHint(topic *catalog.Topic, index int32) (node, epoch int32, known bool) {
	p, err := h.partition(topic, index)
	if err != nil || !leads(p) {
		return -1, -1, false
	}
	return h.Broker.NodeID, int32(p.Epoch()), true
}

// endedContext makes Confirm begin a fence check without waiting for it. An answer that is computed without an append must come from a leader that nobody
// has replaced; of several partitions the checks are begun first, so that they run at the same time, and waited for one by one.
func endedContext(ctx context.Context) context.Context {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	return ended
}
