package vfs

import (
	"fmt"
	"io"
	"sync/atomic"
)

// Hook is called before and after each operation of a Fault, by the goroutine
// that makes it, and may be called by several at once. It may block: that is how an
// operation is delayed or hung. An error before means that the operation is not
// carried out; an error after means that it was, but reports the error. Either is
// wrapped with operation and path. Closing is always carried out.
type Hook func(Op) error

// ErrShortWrite is what a hook returns before a write of which only the first N
// bytes are to be written. The write then reports N and this error. For other
// operations it is an error like any.
type ErrShortWrite struct { //nolint:errname // a value of it reads like a sentinel where hooks return it
	N int64
	// Err is what the write failed with; io.ErrShortWrite if nil.
	Err error
}

func (e ErrShortWrite) Error() string { return fmt.Sprintf("%d bytes written: %v", e.N, e.Unwrap()) }

// Unwrap returns Err or io.ErrShortWrite.
func (e ErrShortWrite) Unwrap() error {
	if e.Err != nil {
		return e.Err
	}
	return io.ErrShortWrite
}

// FailNth returns a hook that fails the nth call, counted from 1, for which match
// holds; calls before and after operations are both offered to it. A nil
// match stands for all calls before operations.
func FailNth(n int, match func(Op) bool, err error) Hook {
	var calls atomic.Int64
	return func(op Op) error {
		if match == nil && op.After || match != nil && !match(op) {
			return nil
		}
		if calls.Add(1) == int64(n) {
			return err
		}
		return nil
	}
}
