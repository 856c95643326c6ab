package offset

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Partition names a partition of a topic.
type Partition struct {
	Topic     string
	Partition int32
}

// Committed is one offset with what came along.
type Committed struct {
	Offset      int64
	LeaderEpoch int32 // of the record before; -1 when the client told none
	Metadata    string
	TopicID     uuid.UUID // uuid.Nil when not known
	CommitTime  int64     // ms since 1970
	ExpireTime  int64     // ms since 1970; -1 for the broker's retention (OffsetCommit v2 to v4 set it)
	// Order is where in the slot's log the offset was first written. Of a plain commit and one of a transaction the later counts, whenever the
	// transaction ends. It stays when trimming moves the record.
	Order int64
}

// Never is the ExpireTime of offsets that the broker's retention governs.
const Never int64 = -1

// AppendJSON appends the value of a record.
func (c Committed) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"version":`...), slot.Version, 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), c.Offset, 10)
	b = strconv.AppendInt(append(b, `,"leader_epoch":`...), int64(c.LeaderEpoch), 10)
	b = strconv.AppendInt(append(b, `,"time":`...), c.CommitTime, 10)
	b = strconv.AppendInt(append(b, `,"order":`...), c.Order, 10)
	if c.ExpireTime != Never {
		b = strconv.AppendInt(append(b, `,"expires":`...), c.ExpireTime, 10)
	}
	if c.TopicID != uuid.Nil {
		text, _ := c.TopicID.MarshalText() // never fails
		b = append(append(append(b, `,"topic_id":"`...), text...), '"')
	}
	if c.Metadata != "" {
		b = slot.AppendString(append(b, `,"metadata":`...), c.Metadata)
	}
	return append(b, '}')
}

// jsonCommitted is a value as it is read.
type jsonCommitted struct {
	Version     int       `json:"version"`
	Offset      int64     `json:"offset"`
	LeaderEpoch int32     `json:"leader_epoch"`
	Time        int64     `json:"time"`
	Order       int64     `json:"order"`
	Expires     int64     `json:"expires"`
	TopicID     uuid.UUID `json:"topic_id"`
	Metadata    string    `json:"metadata"`
}

// Decode reads the value of an offset record or of a pending one. An unknown version is a *slot.VersionError. Nothing is kept of the argument.
func Decode(kind slot.Kind, value []byte) (Committed, error) {
	read := jsonCommitted{Expires: Never}
	if err := json.Unmarshal(value, &read); err != nil {
		return Committed{}, fmt.Errorf("%s: %w", kind, err)
	}
	if err := slot.CheckVersion(kind, read.Version); err != nil {
		return Committed{}, err
	}
	return Committed{
		Offset: read.Offset, LeaderEpoch: read.LeaderEpoch, Metadata: read.Metadata, TopicID: read.TopicID,
		CommitTime: read.Time, ExpireTime: read.Expires, Order: read.Order,
	}, nil
}

// isOf reports whether the offset is one of the topic with this id, and not of an earlier topic of its name. An id that is not known fits all.
func (c Committed) isOf(id uuid.UUID) bool {
	return c.TopicID == id || c.TopicID == uuid.Nil || id == uuid.Nil
}
