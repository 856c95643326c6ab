package protocol

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// frameGrowth is how many times what has arrived of a request its buffer may hold. Room is charged as the buffer grows: a client that announces
	// a large request and sends nothing of it takes smallRequest bytes from the others, not the size that it has made up.
	frameGrowth = 16
	// bodyPiece is how many bytes of a large request share one deadline.
	bodyPiece = 1 << 20
)

// errTooPlain refuses a request above Limits.MaxPlainBytes.
var errTooPlain = errors.New("request is too large for its kind")

// plainWeight is how many times its size a request without records is charged while it is worked on: decoded, and with its answer, it takes
// that much and more, where records are used as they came.
const plainWeight = 32

// carriesRecords reports whether the frame that begins so is a Produce request.
func carriesRecords(frame []byte) bool {
	const keySize = 2
	return len(frame) >= keySize && binary.BigEndian.Uint16(frame) == uint16(keyProduce)
}

// weigh charges what a large request without records takes once it is decoded. A pipelined one may wait for its answer for as long as its
// client likes, so that it must not hold more room than its bytes.
func (c *connection) weigh(ctx context.Context, chosen *row, size int) (more int64, err error) {
	if size <= smallRequest || chosen.Pipelined {
		return 0, nil
	}
	more = (plainWeight - 1) * int64(size)
	if waiter := c.server.budget.reserveMore(int64(size), more); waiter != nil {
		if err := c.watch(ctx, waiter.granted, nil); err != nil {
			c.server.budget.cancel(waiter)
			return 0, err
		}
	}
	return more, nil
}

// body is a request that arrives.
type body struct {
	connection *connection
	in         *receiver
	size       int
	frame      []byte // what has arrived
	charged    int    // bytes of the budget
}

// read reads the request, waiting for room for what comes after its first piece. When it fails the room is given back.
func (b *body) read(ctx context.Context) ([]byte, error) {
	err := b.readAll(ctx)
	if err != nil {
		b.connection.server.budget.release(int64(b.charged))
		return nil, err
	}
	return b.frame, nil
}

func (b *body) readAll(ctx context.Context) error {
	frames := &b.connection.server.frames
	b.frame = frames.grown(nil, b.charged)
	for len(b.frame) < b.size {
		if len(b.frame) == b.charged {
			if err := b.chargeMore(ctx); err != nil {
				return err
			}
			b.frame = frames.grown(b.frame, b.charged)
		}
		begin := len(b.frame)
		end := min(b.charged, begin+bodyPiece)
		if err := b.in.expectBody(end - begin); err != nil {
			return err
		}
		n, err := io.ReadFull(b.in.buffered, b.frame[begin:end])
		b.frame = b.frame[:begin+n]
		if err != nil {
			return err
		}
		if begin == 0 && b.size > b.connection.server.limits.MaxPlainBytes && !carriesRecords(b.frame) {
			return &refusedError{err: fmt.Errorf("%d bytes without records: %w", b.size, errTooPlain)}
		}
	}
	return nil
}

// chargeMore waits for the room of the next pieces.
func (b *body) chargeMore(ctx context.Context) error {
	c := b.connection
	more := min(b.size, frameGrowth*b.charged) - b.charged
	if waiter := c.server.budget.reserveMore(int64(b.charged), int64(more)); waiter != nil {
		if err := c.watch(ctx, waiter.granted, c.server.draining); err != nil {
			c.server.budget.cancel(waiter)
			return err
		}
	}
	b.charged += more
	return nil
}
