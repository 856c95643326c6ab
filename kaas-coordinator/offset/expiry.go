package offset

import (
	"slices"
	"time"
)

// Use says how a group uses its offsets, which decides when they expire.
type Use struct {
	// Keeps is set while nothing may expire: the group has members of whom it is not known what they consume.
	Keeps bool
	// EmptySince is when the last member left; zero when time counts from each commit, as for consumers that only commit.
	EmptySince time.Time
	// Subscribed tells the topics that live members consume; their offsets stay. Nil: none.
	Subscribed func(topic string) bool
}

// Expired returns the partitions whose offsets are over, sorted. An offset with a time of its own (v2 to v4) keeps to that. What an open transaction
// may change is left alone.
func (o *Offsets) Expired(now time.Time, retention time.Duration, use Use) []Partition {
	if use.Keeps {
		return nil
	}
	var expired []Partition
	for at, c := range o.committed {
		subscribed := use.Subscribed != nil && use.Subscribed(at.Topic)
		if !subscribed && !o.IsUnstable(at) && c.isOver(now, retention, use.EmptySince) {
			expired = append(expired, at)
		}
	}
	slices.SortFunc(expired, comparePartitions)
	return expired
}

func (c Committed) isOver(now time.Time, retention time.Duration, emptySince time.Time) bool {
	if c.ExpireTime != Never {
		return now.UnixMilli() >= c.ExpireTime
	}
	from := c.CommitTime
	if !emptySince.IsZero() {
		// Kafka ignores the commit here, so that an offset that an administrator sets in a group that was long empty is soon gone.
		from = max(from, emptySince.UnixMilli())
	}
	return now.UnixMilli()-from >= retention.Milliseconds()
}
