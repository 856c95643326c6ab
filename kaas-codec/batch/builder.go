package batch

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Builder builds one v2 batch. Make it with [NewBuilder], set what differs from the defaults, add
// records, and call [Builder.Build]. It is not safe for concurrent use.
type Builder struct {
	// BaseOffset is the offset of a record with offset delta 0.
	BaseOffset int64
	// LeaderEpoch is -1 unless set.
	LeaderEpoch int32
	// Compression is the codec of the records.
	Compression Compression
	// AppendTime sets the LogAppendTime bit; the maximum timestamp is then the time of the append.
	AppendTime bool
	// Transactional marks the batch as part of a transaction.
	Transactional bool
	// ProducerID, ProducerEpoch and BaseSequence are -1 unless set.
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32

	control       bool
	records       []byte
	count         int32
	lastDelta     int32
	baseTimestamp int64
	maxTimestamp  int64
	failure       error
}

// NewBuilder returns a Builder of an uncompressed batch at offset 0 without producer id.
func NewBuilder() *Builder {
	return &Builder{
		LeaderEpoch:   -1,
		ProducerID:    NoProducerID,
		ProducerEpoch: -1,
		BaseSequence:  -1,
		lastDelta:     -1,
		maxTimestamp:  NoTimestamp,
	}
}

// keptRoom is the most room, in bytes, that Reset keeps.
const keptRoom = 16 << 10

// Reset makes the Builder what [NewBuilder] returns, and keeps its room for records where that is not much.
func (b *Builder) Reset() {
	room := b.records[:0]
	*b = *NewBuilder()
	if cap(room) <= keptRoom {
		b.records = room
	}
}

// Add adds a record with a timestamp in milliseconds at the next offset. Key and value are null
// when nil. Nothing is kept of the arguments.
func (b *Builder) Add(timestamp int64, key, value []byte, headers ...Header) {
	b.AddAt(b.lastDelta+1, timestamp, key, value, headers...)
}

// AddAt adds a record at an offset delta that may leave a gap, as compaction does. Offset deltas
// must grow; [Builder.Build] reports one that does not.
func (b *Builder) AddAt(offsetDelta int32, timestamp int64, key, value []byte, headers ...Header) {
	if offsetDelta <= b.lastDelta {
		b.failure = fmt.Errorf("add record at offset delta %d after %d: %w", offsetDelta, b.lastDelta, ErrMalformed)
		return
	}
	if b.count == 0 {
		b.baseTimestamp = timestamp
	}
	b.records = appendRecord(b.records, Record{
		OffsetDelta:    offsetDelta,
		TimestampDelta: timestamp - b.baseTimestamp,
		Key:            key,
		Value:          value,
		Headers:        headers,
	})
	b.count++
	b.lastDelta = offsetDelta
	b.maxTimestamp = max(b.maxTimestamp, timestamp)
}

// ExtendTo makes the batch end at the offset delta even if its last records are missing, as
// compaction must. A delta within the batch changes nothing.
func (b *Builder) ExtendTo(lastOffsetDelta int32) {
	b.lastDelta = max(b.lastDelta, lastOffsetDelta)
}

// Build returns the batch. The Builder stays usable: more records may follow and be built again.
// It fails without records, after a wrong offset delta, for an unknown codec
// ([ErrUnsupportedCompression]) and above 2 GiB ([ErrTooLarge]).
func (b *Builder) Build() (Batch, error) {
	if b.failure != nil {
		return nil, b.failure
	}
	if b.count == 0 && b.lastDelta < 0 {
		return nil, fmt.Errorf("build batch without records: %w", ErrMalformed)
	}
	out := make(Batch, HeaderSize, HeaderSize+len(b.records))
	out, err := appendCompressed(out, b.records, b.Compression)
	if err != nil {
		return nil, fmt.Errorf("build batch: %w", err)
	}
	if len(out) > math.MaxInt32 {
		return nil, fmt.Errorf("build batch of %d bytes: %w", len(out), ErrTooLarge)
	}
	b.putHeader(out)
	return out, nil
}

func (b *Builder) putHeader(out Batch) {
	out.SetBaseOffset(b.BaseOffset)
	binary.BigEndian.PutUint32(out[lengthAt:], uint32(len(out)-lengthOverhead))
	out.SetLeaderEpoch(b.LeaderEpoch)
	out[magicAt] = magicV2
	binary.BigEndian.PutUint16(out[attributesAt:], uint16(b.attributes()))
	binary.BigEndian.PutUint32(out[lastOffsetDeltaAt:], uint32(b.lastDelta))
	binary.BigEndian.PutUint64(out[baseTimestampAt:], uint64(b.baseTimestamp))
	binary.BigEndian.PutUint64(out[maxTimestampAt:], uint64(b.maxTimestamp))
	binary.BigEndian.PutUint64(out[producerIDAt:], uint64(b.ProducerID))
	binary.BigEndian.PutUint16(out[producerEpochAt:], uint16(b.ProducerEpoch))
	binary.BigEndian.PutUint32(out[baseSequenceAt:], uint32(b.BaseSequence))
	binary.BigEndian.PutUint32(out[countAt:], uint32(b.count))
	out.seal()
}

func (b *Builder) attributes() int16 {
	attributes := int16(b.Compression) & compressionMask
	if b.AppendTime {
		attributes |= appendTimeBit
	}
	if b.Transactional {
		attributes |= transactionalBit
	}
	if b.control {
		attributes |= controlBit
	}
	return attributes
}
