package coordinator

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
)

// FetchRequest asks for committed offsets of a group.
type FetchRequest struct {
	Partitions []offset.Partition // nil: all that have one
	// RequireStable refuses offsets that an open transaction may change (KIP-447).
	RequireStable bool
}

// FetchedOffset is the committed offset of a partition; Offset is -1 when there is none.
type FetchedOffset struct {
	offset.Partition
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
	Err         error // ErrUnstableOffset or nil
}

// Fetch is an OffsetFetch request for one group, in the order of the request, or sorted when all are asked for. A group that is not there has no offsets.
// Offsets that were committed to an earlier topic of the same name are none.
//
// Errors: ErrLoading, ErrNotCoordinator, and ctx's.
func (c *Coordinator) Fetch(ctx context.Context, id string, r FetchRequest) ([]FetchedOffset, error) {
	id = normal(id)
	var fetched []FetchedOffset
	if err := c.settled(ctx, id, time.Now(), func(led *leadership) { fetched = c.fetch(led, id, r) }); err != nil {
		return nil, err
	}
	return fetched, nil
}

func (c *Coordinator) fetch(led *leadership, id string, r FetchRequest) []FetchedOffset {
	partitions, all := r.Partitions, r.Partitions == nil
	e := led.groups[id]
	if all && e != nil {
		partitions = e.offsets.Partitions()
	}
	fetched := make([]FetchedOffset, 0, len(partitions))
	for _, at := range partitions {
		f := FetchedOffset{Partition: at, Offset: -1, LeaderEpoch: -1}
		found := false
		if e != nil {
			found = c.look(e.offsets, r.RequireStable, &f)
		}
		if found || !all {
			fetched = append(fetched, f)
		}
	}
	return fetched
}

// look fills in what is known of a partition, and reports whether anything is.
func (c *Coordinator) look(offsets *offset.Offsets, stable bool, f *FetchedOffset) bool {
	if stable && offsets.IsUnstable(f.Partition) {
		f.Err = ErrUnstableOffset
		return true
	}
	id, known := c.topicID(f.Topic)
	if !known {
		return false
	}
	committed, found := offsets.Get(f.Partition, id)
	if found {
		f.Offset, f.LeaderEpoch, f.Metadata = committed.Offset, committed.LeaderEpoch, committed.Metadata
	}
	return found
}

// topicID returns uuid.Nil, which fits every offset, where nobody knows the topics.
func (c *Coordinator) topicID(topic string) (uuid.UUID, bool) {
	if c.options.Topics == nil {
		return uuid.Nil, true
	}
	return c.options.Topics.TopicID(topic)
}
