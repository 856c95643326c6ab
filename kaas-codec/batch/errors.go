package batch

import "errors"

// Structure errors, of [Next] and of record iteration.
var (
	// ErrTruncated means that the bytes end inside a batch or message.
	ErrTruncated = errors.New("truncated record batch")
	// ErrMagic means that the bytes hold another format than the one asked for.
	ErrMagic = errors.New("unexpected magic")
	// ErrMalformed means that the bytes contradict the format.
	ErrMalformed = errors.New("malformed record batch")
	// ErrDecompressedSize means that records take more bytes uncompressed than the [Limit].
	ErrDecompressedSize = errors.New("decompressed records exceed the limit")
)

// Reasons for which [Validate] rejects records; each stands for one Kafka error code.
var (
	// ErrCorrupt is CORRUPT_MESSAGE (2).
	ErrCorrupt = errors.New("corrupt record batch")
	// ErrTooLarge is MESSAGE_TOO_LARGE (10).
	ErrTooLarge = errors.New("record batch too large")
	// ErrInvalidTimestamp is INVALID_TIMESTAMP (32).
	ErrInvalidTimestamp = errors.New("record timestamp out of range")
	// ErrUnsupportedFormat is UNSUPPORTED_FOR_MESSAGE_FORMAT (43).
	ErrUnsupportedFormat = errors.New("not supported by the message format")
	// ErrUnsupportedCompression is UNSUPPORTED_COMPRESSION_TYPE (76).
	ErrUnsupportedCompression = errors.New("unsupported compression")
	// ErrInvalidRecord is INVALID_RECORD (87).
	ErrInvalidRecord = errors.New("invalid record")
)

// RecordError names one record that made [Validate] reject its batch (KIP-467).
type RecordError struct {
	// Index is the record's position in its batch, from 0.
	Index int32
	// Message is meant for the producer's user.
	Message string
}

// RejectedError is what [Validate] returns for records that a broker must not append.
type RejectedError struct {
	// Reason is one of the sentinels above; it chooses the error code.
	Reason error
	// Message says what is wrong, for the producer's user.
	Message string
	// Records lists every bad record when single records are to blame, else it is empty.
	Records []RecordError
}

// Error returns the reason and the message.
func (e *RejectedError) Error() string { return e.Reason.Error() + ": " + e.Message }

// Unwrap returns the reason.
func (e *RejectedError) Unwrap() error { return e.Reason }
