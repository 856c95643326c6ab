package batch

import "fmt"

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

// minRecordSize is the length of a record with null key, null value and no headers.
const minRecordSize = 7

// parsedRecord is a record whose headers are checked but not collected.
type parsedRecord struct {
	record      Record
	headerCount int32
	headers     []byte
	content     []byte // key, value and headers as they lie in the batch
}

// parseRecord splits one record off b, as strictly as Kafka's DefaultRecord: the parts must fill
// the record's length exactly.
func parseRecord(b []byte) (parsedRecord, []byte, error) {
	size, rest, ok := takeVarint32(b)
	if !ok || size < 0 || int(size) > len(rest) {
		return parsedRecord{}, nil, fmt.Errorf("record length: %w", ErrMalformed)
	}
	body, rest := rest[:size:size], rest[size:]
	if len(body) == 0 {
		return parsedRecord{}, nil, fmt.Errorf("record attributes: %w", ErrMalformed)
	}
	var parsed parsedRecord
	record := &parsed.record
	if record.TimestampDelta, body, ok = takeVarint(body[1:]); !ok {
		return parsedRecord{}, nil, fmt.Errorf("record timestamp: %w", ErrMalformed)
	}
	if record.OffsetDelta, body, ok = takeVarint32(body); !ok {
		return parsedRecord{}, nil, fmt.Errorf("record offset: %w", ErrMalformed)
	}
	parsed.content = body
	if record.Key, body, ok = takeNullable(body); !ok {
		return parsedRecord{}, nil, fmt.Errorf("record key: %w", ErrMalformed)
	}
	if record.Value, body, ok = takeNullable(body); !ok {
		return parsedRecord{}, nil, fmt.Errorf("record value: %w", ErrMalformed)
	}
	if parsed.headerCount, body, ok = takeVarint32(body); !ok || !validHeaders(body, parsed.headerCount) {
		return parsedRecord{}, nil, fmt.Errorf("record headers: %w", ErrMalformed)
	}
	parsed.headers = body
	return parsed, rest, nil
}

// validHeaders reports whether b holds exactly that many headers.
func validHeaders(b []byte, count int32) bool {
	if count < 0 {
		return false
	}
	for range count {
		key, rest, ok := takeNullable(b)
		if !ok || key == nil {
			return false
		}
		if _, b, ok = takeNullable(rest); !ok {
			return false
		}
	}
	return len(b) == 0
}

// decodeHeaders collects headers that validHeaders has accepted, so count is true.
func decodeHeaders(b []byte, count int32) []Header {
	if count == 0 {
		return nil
	}
	headers := make([]Header, count)
	for i := range headers {
		key, rest, _ := takeNullable(b)
		headers[i].Key = string(key)
		headers[i].Value, b, _ = takeNullable(rest)
	}
	return headers
}

// takeNullable splits a byte string with varint length off b; -1 is null and gives nil.
func takeNullable(b []byte) (value, rest []byte, ok bool) {
	size, rest, ok := takeVarint32(b)
	if !ok || size < -1 || int(size) > len(rest) {
		return nil, nil, false
	}
	if size == -1 {
		return nil, rest, true
	}
	return rest[:size:size], rest[size:], true
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

// appendMoved appends a parsed record with another offset delta.
func appendMoved(dst []byte, parsed parsedRecord, offsetDelta int32) []byte {
	size := 1 + varintSize(parsed.record.TimestampDelta) + varintSize(int64(offsetDelta)) + len(parsed.content)
	dst = appendVarint(dst, int64(size))
	dst = append(dst, 0)
	dst = appendVarint(dst, parsed.record.TimestampDelta)
	dst = appendVarint(dst, int64(offsetDelta))
	return append(dst, parsed.content...)
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
