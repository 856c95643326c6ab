package batch

import (
	"fmt"
	"math"
)

// DownConvert turns whole v2 batches into a message set of magic 0 (for Fetch v0 and v1) or magic 1
// (Fetch v2 and v3). Offsets stay; headers, producer ids and transactions are lost, and control
// batches are left out. A compressed batch becomes a wrapper in the same codec. The result is empty
// when nothing is left.
//
// Errors: [ErrUnsupportedCompression] for zstd, which the old formats do not know;
// [ErrUnsupportedFormat] for another magic; those of [Next] and [Batch.Records].
func DownConvert(batches []byte, magic int8, t *Tripwires) ([]byte, error) {
	return DownConvertFrom(batches, magic, math.MinInt64, t)
}

// DownConvertFrom is [DownConvert] for a fetch at an offset: of uncompressed batches it leaves out the
// records below. Old formats do not batch those, so a client expects none of them (some versions
// of librdkafka rely on it); wrappers stay whole.
func DownConvertFrom(batches []byte, magic int8, from int64, t *Tripwires) ([]byte, error) {
	if magic != 0 && magic != 1 {
		return nil, fmt.Errorf("convert to magic %d: %w", magic, ErrUnsupportedFormat)
	}
	out := make([]byte, 0, len(batches))
	for len(batches) > 0 {
		batch, rest, err := Next(batches)
		if err != nil {
			return nil, fmt.Errorf("convert to magic %d: %w", magic, err)
		}
		batches = rest
		if batch.Control() || batch.Count() == 0 {
			continue
		}
		if out, err = appendDownConverted(out, batch, magic, from, t); err != nil {
			return nil, fmt.Errorf("convert batch at offset %d to magic %d: %w", batch.BaseOffset(), magic, err)
		}
	}
	return out, nil
}

func appendDownConverted(dst []byte, batch Batch, magic int8, from int64, t *Tripwires) ([]byte, error) {
	codec := batch.Compression()
	if codec > Lz4 {
		return nil, fmt.Errorf("compression %v: %w", codec, ErrUnsupportedCompression)
	}
	t.Decoded(SiteDownConvert)
	walker, err := batch.walk(DefaultLimit)
	if err != nil {
		return nil, err
	}
	t.Reencoded(SiteDownConvert)
	if codec == None {
		return appendPlainMessages(dst, batch, &walker, magic, from)
	}
	return appendWrapper(dst, batch, &walker, magic)
}

func appendPlainMessages(dst []byte, batch Batch, walker *recordWalker, magic int8, from int64) ([]byte, error) {
	for walker.next() {
		m := downConverted(batch, walker.record, magic)
		if m.offset >= from {
			dst = appendMessage(dst, m)
		}
	}
	return dst, walker.err
}

// appendWrapper appends one compressed message. Inner offsets are absolute in magic 0 and relative
// to the first record in magic 1; the wrapper has the last record's offset.
func appendWrapper(dst []byte, batch Batch, walker *recordWalker, magic int8) ([]byte, error) {
	wrapper := message{magic: magic, timestamp: NoTimestamp, attributes: int8(batch.Compression())}
	inner := make([]byte, 0, len(walker.all)+int(min(walker.left, 1<<16))*minMessageSize)
	base := NoTimestamp
	for first := true; walker.next(); first = false {
		m := downConverted(batch, walker.record, magic)
		if first {
			base = m.offset
		}
		wrapper.offset = m.offset
		wrapper.timestamp = max(wrapper.timestamp, m.timestamp)
		if magic == 1 {
			m.offset -= base
			wrapper.attributes |= m.attributes & messageTimeBit
		}
		inner = appendMessage(inner, m)
	}
	if walker.err != nil {
		return nil, walker.err
	}
	value, err := appendCompressed(nil, inner, batch.Compression())
	if err != nil {
		return nil, err
	}
	if magic == 0 && batch.Compression() == Lz4 {
		breakLz4Checksum(value)
	}
	wrapper.value = value
	return appendMessage(dst, wrapper), nil
}

// downConverted returns a record as an uncompressed message with its absolute offset.
func downConverted(batch Batch, record Record, magic int8) message {
	m := message{
		offset:    batch.BaseOffset() + int64(record.OffsetDelta),
		magic:     magic,
		timestamp: batch.BaseTimestamp() + record.TimestampDelta,
		key:       record.Key,
		value:     record.Value,
	}
	if batch.AppendTime() {
		m.timestamp = batch.MaxTimestamp()
		if magic == 1 {
			m.attributes = messageTimeBit
		}
	}
	return m
}
