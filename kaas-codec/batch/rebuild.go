package batch

import (
	"encoding/binary"
	"fmt"
	"math"
)

// withRecords returns a batch with the header of b and other records, compressed with the codec.
func withRecords(b Batch, records []byte, codec Compression) (Batch, error) {
	out, err := appendWithRecords(make(Batch, 0, HeaderSize+len(records)), b, records, codec)
	if err != nil {
		return nil, err
	}
	out.seal()
	return out, nil
}

// appendWithRecords writes such a batch at the start of dst's memory, without its CRC.
func appendWithRecords(dst []byte, b Batch, records []byte, codec Compression) (Batch, error) {
	appended, err := appendCompressed(append(dst[:0], b[:HeaderSize]...), records, codec)
	if err != nil {
		return nil, err
	}
	if len(appended) > math.MaxInt32 {
		return nil, fmt.Errorf("encode batch of %d bytes: %w", len(appended), ErrTooLarge)
	}
	out := Batch(appended)
	binary.BigEndian.PutUint32(out[lengthAt:], uint32(len(out)-lengthOverhead))
	out.setAttributes(b.Attributes()&^compressionMask | int16(codec))
	return out, nil
}

// Remainder is what compaction leaves of a batch's records.
type Remainder struct {
	// Records are encoded as in a batch, not compressed, with offset deltas from the batch's base
	// offset.
	Records []byte
	// Count is how many they are, above 0.
	Count int32
	// BaseTimestamp is what their timestamps count from, in milliseconds since 1970; with
	// DeleteHorizon it is the horizon, see [Batch.DeleteHorizon].
	BaseTimestamp int64
	DeleteHorizon bool
	// MaxTimestamp is the largest of their timestamps.
	MaxTimestamp int64
}

// WithRemainder returns a batch of the remainder, made in dst's memory if that is large enough.
// Everything else is as in b, the codec too: offsets, sequences, producer, leader epoch, timestamp
// type. b does not change and must not share memory with dst. It fails above 2 GiB ([ErrTooLarge]) and
// for an unknown codec ([ErrUnsupportedCompression]).
func (b Batch) WithRemainder(dst []byte, r Remainder, t *Tripwires, site Site) (Batch, error) {
	t.Reencoded(site)
	out, err := appendWithRecords(dst, b, r.Records, b.Compression())
	if err != nil {
		return nil, err
	}
	attributes := out.Attributes() &^ deleteHorizonBit
	if r.DeleteHorizon {
		attributes |= deleteHorizonBit
	}
	out.setAttributes(attributes)
	binary.BigEndian.PutUint64(out[baseTimestampAt:], uint64(r.BaseTimestamp))
	binary.BigEndian.PutUint64(out[maxTimestampAt:], uint64(r.MaxTimestamp))
	binary.BigEndian.PutUint32(out[countAt:], uint32(r.Count))
	out.seal()
	return out, nil
}

// Emptied returns the batch without records, made in dst's memory if that is large enough. It keeps
// offsets, sequences, producer, leader epoch and maximum timestamp; the codec and the delete horizon
// mean nothing without records and go, as in Kafka. b does not change and must not share memory with
// dst.
func (b Batch) Emptied(dst []byte) Batch {
	out := Batch(append(dst[:0], b[:HeaderSize]...))
	binary.BigEndian.PutUint32(out[lengthAt:], HeaderSize-lengthOverhead)
	out.setAttributes(b.Attributes() &^ (compressionMask | deleteHorizonBit))
	baseTimestamp := NoTimestamp
	binary.BigEndian.PutUint64(out[baseTimestampAt:], uint64(baseTimestamp))
	binary.BigEndian.PutUint32(out[countAt:], 0)
	out.seal()
	return out
}
