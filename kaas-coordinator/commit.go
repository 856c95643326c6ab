package coordinator

import (
	"cmp"
	"context"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// CommitRequest is what a group commits at once. The offsets that can be taken are taken together or not at all.
type CommitRequest struct {
	group.Identity // generation -1 without a member id: nobody in particular
	Offsets        []CommitOffset
	// Retention is how long the offsets are kept (v2 to v4 of OffsetCommit); negative for the broker's retention.
	Retention time.Duration
}

// CommitOffset is the offset of one partition. Negative offsets are taken, as in Kafka.
type CommitOffset struct {
	offset.Partition
	TopicID     uuid.UUID // of the topic as it is now; uuid.Nil when not known
	Offset      int64
	LeaderEpoch int32 // -1 for none
	Metadata    string
	CommitTime  int64 // ms since 1970; -1 for now (all but v1 of OffsetCommit)
}

// Commit is an OffsetCommit request. It returns when the offsets are durable. The results are one error for each offset: nil,
// ErrMetadataTooLarge, which does not hold the others up, or ErrCommitTooLarge, which all the others get. With an error nothing was committed,
// ErrNotCoordinator and ctx's excepted, where it is not known.
//
// Errors: ErrLoading, ErrNotCoordinator, those of package group for commits, and ctx's.
func (c *Coordinator) Commit(ctx context.Context, id string, r CommitRequest) ([]error, error) {
	id = normal(id)
	arrived := time.Now()
	led, err := c.enter(id)
	if err != nil {
		return nil, err
	}
	answer, err := c.commit(led, id, r, arrived)
	led.Unlock()
	if err != nil {
		return nil, err
	}
	return answer.settle(ctx, led, arrived)
}

// committed is the answer to a commit.
type committed struct {
	results  []error
	refusal  error // the group's word on who asks
	rests    slot.Pending
	appended bool
}

// settle waits until the answer is certain. The sync and check of the commit's own append are all that it needs.
func (a committed) settle(ctx context.Context, led *leadership, arrived time.Time) ([]error, error) {
	var err error
	if a.appended {
		err = waitError(ctx, a.rests.Wait(ctx))
	} else {
		err = settle(ctx, led, a.rests, arrived)
	}
	if err != nil {
		return nil, err
	}
	return a.results, a.refusal
}

// commit appends what can be taken. The caller holds the lock.
func (c *Coordinator) commit(led *leadership, id string, r CommitRequest, now time.Time) (committed, error) {
	if led.groups[id] == nil && r.Generation >= 0 {
		return committed{refusal: group.ErrIllegalGeneration, rests: led.Barrier()}, nil
	}
	answer, accepted := c.judge(led, id, r.Identity, false, r.Offsets)
	if len(accepted) == 0 {
		return answer, nil
	}
	rests, err := led.append(id, led.group(id), accepted, r.Retention, now)
	answer.rests, answer.appended = rests, true
	return answer, err
}

// judge says whether the member of the group may commit, and which of its offsets are taken. The caller holds the lock.
func (c *Coordinator) judge(led *leadership, id string, who group.Identity, transactional bool, offsets []CommitOffset) (committed, []CommitOffset) {
	answer := committed{refusal: led.group(id).live.CheckCommit(who, transactional), rests: led.Barrier()}
	if answer.refusal != nil {
		return answer, nil
	}
	var accepted []CommitOffset
	answer.results, accepted = c.checkOffsets(id, offsets)
	return answer, accepted
}

// maxCommitBytes bounds what one request stores. The group's id, of 32 KiB at most, goes with each of its offsets, so that a request of 200 KB could become
// gigabytes. Kafka has the largest message of __consumer_offsets for it, 1 MiB; records are longer here, and this takes what fits there.
const maxCommitBytes = 8 << 20

// checkOffsets returns one result for each offset, and those that are taken.
func (c *Coordinator) checkOffsets(id string, offsets []CommitOffset) ([]error, []CommitOffset) {
	results := make([]error, len(offsets))
	accepted := make([]CommitOffset, 0, len(offsets))
	size, idBytes := 0, quotedBytes(id)
	for i, o := range offsets {
		if lettersOf(o.Metadata) > c.options.Offsets.MaxMetadata {
			results[i] = ErrMetadataTooLarge
			continue
		}
		o.Metadata = normal(o.Metadata)
		size += usualValue + idBytes + quotedBytes(o.Topic) + quotedBytes(o.Metadata)
		accepted = append(accepted, o)
	}
	if size <= maxCommitBytes {
		return results, accepted
	}
	for i := range results {
		results[i] = cmp.Or(results[i], ErrCommitTooLarge)
	}
	return results, nil
}

// quotedBytes is about what a text takes in a JSON string.
func quotedBytes(text string) int {
	size := len(text)
	for i := range len(text) {
		if text[i] < ' ' || text[i] == '"' || text[i] == '\\' {
			size += len(`u0000`)
		}
	}
	return size
}

// lettersOf is the length of a text as Java counts it, which is how Kafka measures metadata whatever the name of its setting says.
func lettersOf(text string) int {
	letters := 0
	for _, letter := range text {
		letters += max(utf16.RuneLen(letter), 1) // what is no letter has been one replacement
	}
	return letters
}

// append writes offsets and then shows them. The caller holds the lock.
func (l *leadership) append(id string, e *entry, offsets []CommitOffset, retention time.Duration, now time.Time) (slot.Pending, error) {
	values, records := l.encode(offsets, retention, now, func(at offset.Partition) slot.Key {
		return slot.OffsetKey(id, at.Topic, at.Partition)
	})
	pending, err := l.slot.Append(records...)
	if err != nil {
		return slot.Pending{}, appendError(err)
	}
	for i, o := range offsets {
		e.offsets.Commit(o.Partition, values[i])
	}
	return pending, nil
}

// usualValue is about what an offset's record takes without metadata, in bytes.
const usualValue = 192

// encode returns the values of offsets and their records, as the next append.
func (l *leadership) encode(
	offsets []CommitOffset, retention time.Duration, now time.Time, key func(offset.Partition) slot.Key,
) ([]offset.Committed, []slot.Record) {
	records := make([]slot.Record, len(offsets))
	values := make([]offset.Committed, len(offsets))
	next := l.slot.Next()
	for i, o := range offsets {
		values[i] = o.committed(retention, now, next+int64(i))
		records[i] = slot.Record{Key: key(o.Partition), Value: values[i].AppendJSON(make([]byte, 0, usualValue+len(o.Metadata)))}
	}
	return values, records
}

func (o CommitOffset) committed(retention time.Duration, now time.Time, order int64) offset.Committed {
	c := offset.Committed{
		Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, TopicID: o.TopicID,
		CommitTime: o.CommitTime, ExpireTime: offset.Never, Order: order,
	}
	if c.CommitTime < 0 {
		c.CommitTime = now.UnixMilli()
	}
	if retention >= 0 {
		c.ExpireTime = now.Add(retention).UnixMilli()
	}
	return c
}
