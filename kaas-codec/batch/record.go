package batch

// Header is one header of a record.
type Header struct {
	// Key is never null in Kafka, but may be empty.
	Key string
	// Value is nil for null.
	Value []byte
}

// Record is one record of a v2 batch.
type Record struct {
	// OffsetDelta is the distance from the batch's base offset.
	OffsetDelta int32
	// TimestampDelta is the distance in milliseconds from the batch's base timestamp; without
	// meaning in a batch with [Batch.AppendTime].
	TimestampDelta int64
	// Key and Value are nil for null.
	Key, Value []byte
	// Headers are in the order of the wire; nil for none.
	Headers []Header
}

// appendRecord appends the record with its length prefix.
func appendRecord(dst []byte, record Record) []byte {
	dst = appendVarint(dst, int64(recordSize(record)))
	dst = append(dst, 0) // attributes: none are defined for a record
	dst = appendVarint(dst, record.TimestampDelta)
	dst = appendVarint(dst, int64(record.OffsetDelta))
	dst = appendNullable(dst, record.Key)
	dst = appendNullable(dst, record.Value)
	dst = appendVarint(dst, int64(len(record.Headers)))
	for _, header := range record.Headers {
		dst = appendVarint(dst, int64(len(header.Key)))
		dst = append(dst, header.Key...)
		dst = appendNullable(dst, header.Value)
	}
	return dst
}

// recordSize returns the bytes of a record behind its length prefix.
func recordSize(record Record) int {
	size := 1 + varintSize(record.TimestampDelta) + varintSize(int64(record.OffsetDelta)) +
		nullableSize(record.Key) + nullableSize(record.Value) + varintSize(int64(len(record.Headers)))
	for _, header := range record.Headers {
		size += varintSize(int64(len(header.Key))) + len(header.Key) + nullableSize(header.Value)
	}
	return size
}

func appendNullable(dst, value []byte) []byte {
	if value == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int64(len(value))), value...)
}

func nullableSize(value []byte) int {
	if value == nil {
		return varintSize(-1)
	}
	return varintSize(int64(len(value))) + len(value)
}
