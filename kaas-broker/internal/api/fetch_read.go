package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/fetchsession"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// fetchRow is what came of reading one partition.
type fetchRow struct {
	topic     *catalog.Topic
	partition *storage.Partition
	err       error
	section   protocol.Section // nil without records
	size      int
	full      bool // waiting will not make the section larger: it has reached a limit, or the end of its segment
	bounds    storage.Offsets
	diverging divergence
	aborted   []kmsg.FetchResponseTopicPartitionAbortedTransaction
	stranger  bool // unknown to this broker from the start of the request on
}

// divergence is where the client's log parts from this one (KIP-320).
type divergence struct {
	found bool
	epoch int32
	end   int64
}

// untoldBounds are the bounds of a partition whose log could not be asked.
var untoldBounds = storage.Offsets{LogStart: -1, LastStable: -1, HighWatermark: -1, LogEnd: -1}

func (r *fetchRow) fail(err error) {
	r.release()
	r.err = err
	if !errors.Is(err, storage.ErrOffsetOutOfRange) {
		r.bounds = untoldBounds
	}
}

func (r *fetchRow) release() {
	if r.section != nil {
		r.section.Release()
	}
	r.section, r.size, r.full = nil, 0, false
}

// read reads every partition anew, within the response's limit, and reports whether the answer is due: there is enough, or something to be told at once.
func (c *fetchCall) read(ctx context.Context) (due bool) {
	snapshot := c.handlers.Catalog.Snapshot()
	total, strangers := 0, 0
	for i := range c.rows {
		row := &c.rows[i]
		row.release()
		*row = fetchRow{bounds: untoldBounds, stranger: row.stranger}
		if err := c.readOne(ctx, row, snapshot, &c.session.Wanted()[i], total); err != nil {
			row.fail(err)
		}
		row.stranger = (row.stranger || !c.looked) && row.unknown()
		if row.stranger {
			strangers++
			continue
		}
		total += row.size
		due = due || row.err != nil || row.diverging.found || row.full
	}
	c.looked = true
	return due || total >= c.minBytes || strangers == len(c.rows)
}

// unknown reports whether the partition was refused without looking for its log. Such an error holds up nobody's wait for other partitions: a client
// that keeps asking for a deleted topic beside idle ones would ask in a tight loop.
func (r *fetchRow) unknown() bool {
	return errors.Is(r.err, kerr.UnknownTopicOrPartition) || errors.Is(r.err, kerr.UnknownTopicID) || errors.Is(r.err, kerr.TopicAuthorizationFailed)
}

// readOne reads one partition; taken is what the ones before it have used of the response's limit.
func (c *fetchCall) readOne(ctx context.Context, row *fetchRow, snapshot *catalog.Snapshot, wanted *fetchsession.Wanted, taken int) error {
	var err error
	if row.topic, err = c.topic(snapshot, wanted); err != nil {
		return err
	}
	if err := c.readable(row.topic); err != nil {
		return err
	}
	if row.partition, err = c.handlers.partition(row.topic, wanted.Partition); err != nil {
		return err
	}
	if err := checkLeaderEpoch(row.partition, wanted.LeaderEpoch); err != nil {
		return err
	}
	row.bounds = row.partition.Offsets()
	if err := row.compare(wanted); err != nil || row.diverging.found {
		return err
	}
	limit := min(int(wanted.MaxBytes), c.maxBytes-taken)
	whole := taken == 0 && c.request.Version >= fetchWithLimit
	if c.request.Version < fetchWithV2 {
		return c.readConverted(ctx, row, wanted, storage.ReadOptions{MaxBytes: limit, AtLeastOneBatch: whole})
	}
	committed := c.request.IsolationLevel == readCommitted
	section, err := row.partition.Read(wanted.Offset, storage.ReadOptions{MaxBytes: limit, AtLeastOneBatch: whole, Committed: committed})
	if err != nil {
		return err
	}
	if section == nil {
		return row.ended()
	}
	row.section, row.size = section, int(section.Size())
	row.full = section.More() || row.size >= int(wanted.MaxBytes)
	if committed {
		return row.noteAborted(section, wanted.Offset)
	}
	return nil
}

// ended is why a partition without anything to read will not get anything: its leadership has ended.
func (r *fetchRow) ended() error {
	if leads(r.partition) {
		return nil
	}
	return r.partition.Err()
}

// topic finds the topic by what the version names it by.
func (c *fetchCall) topic(snapshot *catalog.Snapshot, wanted *fetchsession.Wanted) (*catalog.Topic, error) {
	if c.request.Version < fetchByID {
		return c.handlers.topicFor(c.conn, snapshot, kmsg.ACLOperationRead, wanted.Topic)
	}
	topic, known := snapshot.ByID(wanted.TopicID)
	if !known {
		return nil, kerr.UnknownTopicID
	}
	if !c.handlers.mayTopic(c.conn, kmsg.ACLOperationRead, topic.Name) {
		return nil, kerr.TopicAuthorizationFailed
	}
	return topic, nil
}

// readable reports whether clients of this version can read what the topic holds.
func (c *fetchCall) readable(topic *catalog.Topic) error {
	switch {
	case c.request.Version < fetchWithZstd && topic.Effective.Compression == batch.Zstd:
		return kerr.UnsupportedCompressionType
	case c.request.Version < fetchWithV2 && !topic.Effective.DownConversion:
		return kerr.UnsupportedVersion
	}
	return nil
}

// compare finds whether the client's log has parted from this one (KIP-320): its last record has an epoch that is not known here, or that ended earlier.
func (r *fetchRow) compare(wanted *fetchsession.Wanted) error {
	if wanted.LastEpoch < 0 {
		return nil
	}
	epoch, end := r.partition.OffsetForLeaderEpoch(storage.Epoch(wanted.LastEpoch))
	switch {
	case end < 0 || epoch < 0:
		return fmt.Errorf("end of epoch %d is unknown: %w", wanted.LastEpoch, storage.ErrOffsetOutOfRange)
	case wanted.Offset < r.bounds.LogStart:
		return fmt.Errorf("offset %d is below the log start: %w", wanted.Offset, storage.ErrOffsetOutOfRange)
	case int32(epoch) < wanted.LastEpoch || end < wanted.Offset:
		r.diverging = divergence{found: true, epoch: int32(epoch), end: end}
	}
	return nil
}
