package codec

import (
	"errors"
	"fmt"
)

var (
	// ErrFrameSize is wrapped by every FrameSizeError.
	ErrFrameSize = errors.New("frame size out of range")
	// ErrUnknownKey means a request key that the registry does not have.
	ErrUnknownKey = errors.New("unknown request key")
	// ErrUnsupportedVersion means a version outside the range of its key.
	ErrUnsupportedVersion = errors.New("unsupported request version")
	// ErrMalformed is wrapped by every MalformedError.
	ErrMalformed = errors.New("malformed request")
	// ErrNoSchema means a registered key whose requests cannot be decoded yet,
	// because nothing describes to the guard what its lengths may be.
	ErrNoSchema = errors.New("no schema to check the request with")
)

// FrameSizeError is a size prefix that is negative, zero or above the limit.
type FrameSizeError struct {
	// Size is the announced number of bytes.
	Size int32
	// Limit is the largest size that the reader accepts, in bytes.
	Limit int
}

func (e *FrameSizeError) Error() string {
	return fmt.Sprintf("frame of %d bytes: must be 1 to %d", e.Size, e.Limit)
}

// Unwrap makes errors.Is(err, ErrFrameSize) true.
func (e *FrameSizeError) Unwrap() error { return ErrFrameSize }

// MalformedError is a request that breaks Kafka's encoding. The connection that
// sent it cannot be answered: nothing after it can be trusted.
type MalformedError struct {
	// Key and Version are those of the request header.
	Key, Version int16
	// Reason is one phrase about the first thing that is wrong.
	Reason string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("malformed request of key %d version %d: %s", e.Key, e.Version, e.Reason)
}

// Unwrap makes errors.Is(err, ErrMalformed) true.
func (e *MalformedError) Unwrap() error { return ErrMalformed }
