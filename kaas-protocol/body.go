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

// carriesRecords reports whether the frame that begins so is a Produce request.
func carriesRecords(frame []byte) bool {
	const keySize = 2
	return len(frame) >= keySize && binary.BigEndian.Uint16(frame) == uint16(keyProduce)
}

// body is a request that arrives.
type body struct {
	connection *connection
	in         *receiver
	size       int
	frame      []byte // what has arrived
	charged    charge
}

// read reads the request, waiting for room for what comes after its first piece. When it fails the room is given back.
func (b *body) read(ctx context.Context) ([]byte, error) {
	err := b.readAll(ctx)
	if err != nil {
		b.connection.server.release(b.charged)
		return nil, err
	}
	return b.frame, nil
}

func (b *body) readAll(ctx context.Context) error {
	frames := &b.connection.server.frames
	room := int(b.charged.records.bytes)
	b.in.room = b.connection.server.records
	b.frame = frames.get(room)
	for len(b.frame) < b.size {
		if len(b.frame) == room {
			if err := b.checkKind(); err != nil {
				return err
			}
			b.moveCharge()
			more := min(b.size, frameGrowth*room) - room
			if err := b.chargeMore(ctx, int64(more)); err != nil {
				return err
			}
			room += more
			b.frame = frames.grown(b.frame, room)
		}
		begin := len(b.frame)
		end := min(room, begin+bodyPiece)
		if err := b.in.expectBody(end - begin); err != nil {
			return err
		}
		n, err := io.ReadFull(b.in.buffered, b.frame[begin:end])
		b.frame = b.frame[:begin+n]
		if err != nil {
			return err
		}
	}
	b.moveCharge()
	return nil
}

// moveCharge charges the first piece of a request without records to the budget of its kind, once that is known: such a request may wait for its answer for
// as long as its client likes, and a Produce request above the limit waits until everything else has left its budget.
func (b *body) moveCharge() {
	server := b.connection.server
	if first := b.charged.records; first.bytes > 0 && !carriesRecords(b.frame) {
		server.plain.take(first.bytes)
		server.records.release(first)
		b.charged = charge{plain: share{bytes: b.charged.plain.bytes + first.bytes, waited: b.charged.plain.waited}}
	}
}

// checkKind refuses a request that is too large for its kind as soon as that is known.
func (b *body) checkKind() error {
	if b.size > b.connection.server.limits.MaxPlainBytes && !carriesRecords(b.frame) {
		return &refusedError{err: fmt.Errorf("%d bytes without records: %w", b.size, errTooPlain)}
	}
	return nil
}

// chargeMore waits for the room of the next pieces. Requests without records have a budget of their own: they may wait for long, and must not keep
// producers out.
func (b *body) chargeMore(ctx context.Context, more int64) error {
	c := b.connection
	from, taken := c.server.plain, &b.charged.plain
	if carriesRecords(b.frame) {
		from, taken = c.server.records, &b.charged.records
	}
	b.in.room = from
	if waiter := from.reserveMore(taken.waited, more); waiter != nil {
		if err := c.watch(ctx, waiter.granted, c.server.draining); err != nil {
			from.cancel(waiter)
			return err
		}
	}
	taken.add(more)
	return nil
}
