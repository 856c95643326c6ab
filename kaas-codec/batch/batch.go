package batch

import (
	"encoding/binary"
	"hash/crc32"
	"math"
)

// HeaderSize is the length in bytes of a v2 batch header, records excluded.
const HeaderSize = 61

// NoTimestamp is the timestamp of a record or batch that has none.
const NoTimestamp int64 = -1

// NoProducerID is the producer id of a batch written without idempotence.
const NoProducerID int64 = -1

// Byte positions in a v2 batch header. The first 17 bytes are laid out alike in all formats as far
// as base offset, length and magic go.
const (
	baseOffsetAt      = 0
	lengthAt          = 8
	leaderEpochAt     = 12
	magicAt           = 16
	crcAt             = 17
	attributesAt      = 21
	lastOffsetDeltaAt = 23
	baseTimestampAt   = 27
	maxTimestampAt    = 35
	producerIDAt      = 43
	producerEpochAt   = 51
	baseSequenceAt    = 53
	countAt           = 57

	// lengthOverhead is what the length field leaves out: base offset and the field itself.
	lengthOverhead = 12
	magicV2        = 2
)

// Attribute bits of a v2 batch.
const (
	compressionMask  = 0x07
	appendTimeBit    = 0x08
	transactionalBit = 0x10
	controlBit       = 0x20
	deleteHorizonBit = 0x40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is exactly one v2 record batch, header included, as [Next] and [Validate] return it. Its
// accessors read the header in place, never allocate, and must not be called on fewer than
// [HeaderSize] bytes. A Batch is as safe for concurrent use as the bytes under it.
type Batch []byte

// BaseOffset returns the offset of the batch's first record.
func (b Batch) BaseOffset() int64 { return b.int64At(baseOffsetAt) }

// LastOffset returns the offset of the batch's last record, which compaction may have removed.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// LastOffsetDelta returns the distance from the base offset to the last offset.
func (b Batch) LastOffsetDelta() int32 { return b.int32At(lastOffsetDeltaAt) }

// LeaderEpoch returns the epoch of the leader that appended the batch; producers send -1 or 0.
func (b Batch) LeaderEpoch() int32 { return b.int32At(leaderEpochAt) }

// CRC returns the stored CRC-32C, which covers everything from the attributes to the end.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[crcAt:]) }

// Attributes returns the raw attribute bits.
func (b Batch) Attributes() int16 { return b.int16At(attributesAt) }

// BaseTimestamp returns the timestamp in milliseconds from which record timestamps are counted. It
// says nothing of the records themselves, see [Batch.DeleteHorizon].
func (b Batch) BaseTimestamp() int64 { return b.int64At(baseTimestampAt) }

// MaxTimestamp returns the largest record timestamp in milliseconds, or the append time of all
// records when [Batch.AppendTime] is set.
func (b Batch) MaxTimestamp() int64 { return b.int64At(maxTimestampAt) }

// ProducerID returns the id of an idempotent or transactional producer, else [NoProducerID].
func (b Batch) ProducerID() int64 { return b.int64At(producerIDAt) }

// ProducerEpoch returns the epoch of the producer, -1 without one.
func (b Batch) ProducerEpoch() int16 { return b.int16At(producerEpochAt) }

// BaseSequence returns the sequence number of the first record, -1 without a producer id.
func (b Batch) BaseSequence() int32 { return b.int32At(baseSequenceAt) }

// LastSequence returns the sequence number of the last record. Sequence numbers wrap to 0 after
// the largest int32. It is -1 when the base sequence is.
func (b Batch) LastSequence() int32 {
	base := b.BaseSequence()
	if base < 0 {
		return base
	}
	return int32((int64(base) + int64(b.LastOffsetDelta())) & math.MaxInt32)
}

// Count returns the number of records, which can be smaller than the offset range after
// compaction.
func (b Batch) Count() int32 { return b.int32At(countAt) }

// Compression returns the codec of the records; values above [Zstd] exist in hostile batches only.
func (b Batch) Compression() Compression { return Compression(b.Attributes() & compressionMask) }

// AppendTime reports whether record timestamps are the time of the append (LogAppendTime).
func (b Batch) AppendTime() bool { return b.Attributes()&appendTimeBit != 0 }

// Transactional reports whether the batch belongs to a transaction.
func (b Batch) Transactional() bool { return b.Attributes()&transactionalBit != 0 }

// Control reports whether the batch holds a control record, such as a transaction marker.
func (b Batch) Control() bool { return b.Attributes()&controlBit != 0 }

// DeleteHorizon returns the time in milliseconds since 1970 from which compaction may remove the
// batch's deletions, or its transaction marker (KIP-534). It is false until a first compaction has set
// it; the base timestamp then is the horizon.
func (b Batch) DeleteHorizon() (ms int64, ok bool) {
	return b.BaseTimestamp(), b.Attributes()&deleteHorizonBit != 0
}

// ValidCRC reports whether the stored CRC-32C is that of the bytes.
func (b Batch) ValidCRC() bool { return b.CRC() == crc32.Checksum(b[attributesAt:], castagnoli) }

// SetBaseOffset sets the base offset in place. It lies outside the CRC.
func (b Batch) SetBaseOffset(offset int64) {
	binary.BigEndian.PutUint64(b[baseOffsetAt:], uint64(offset))
}

// SetLeaderEpoch sets the leader epoch in place. It lies outside the CRC.
func (b Batch) SetLeaderEpoch(epoch int32) {
	binary.BigEndian.PutUint32(b[leaderEpochAt:], uint32(epoch))
}

// StampAppendTime makes ms the timestamp of all records: it sets the LogAppendTime bit and the
// maximum timestamp and recomputes the CRC. The base timestamp stays the producer's, as Kafka
// leaves it.
func (b Batch) StampAppendTime(ms int64) { b.stamp(b.Attributes()|appendTimeBit, ms) }

// SetMaxTimestamp sets the maximum timestamp, clears the LogAppendTime bit and recomputes the CRC.
func (b Batch) SetMaxTimestamp(ms int64) { b.stamp(b.Attributes()&^appendTimeBit, ms) }

func (b Batch) stamp(attributes int16, maxTimestamp int64) {
	b.setAttributes(attributes)
	binary.BigEndian.PutUint64(b[maxTimestampAt:], uint64(maxTimestamp))
	b.seal()
}

// seal writes the CRC of the batch as it is now.
func (b Batch) seal() {
	binary.BigEndian.PutUint32(b[crcAt:], crc32.Checksum(b[attributesAt:], castagnoli))
}

func (b Batch) setAttributes(attributes int16) {
	binary.BigEndian.PutUint16(b[attributesAt:], uint16(attributes))
}

// records returns the bytes behind the header, compressed if the batch is.
func (b Batch) records() []byte { return b[HeaderSize:] }

func (b Batch) int64At(at int) int64 { return int64(binary.BigEndian.Uint64(b[at:])) }
func (b Batch) int32At(at int) int32 { return int32(binary.BigEndian.Uint32(b[at:])) }
func (b Batch) int16At(at int) int16 { return int16(binary.BigEndian.Uint16(b[at:])) }
