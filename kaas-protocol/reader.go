package protocol

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// readBuffer holds a size prefix and most requests, so that one read of the socket takes them whole.
const readBuffer = 4 << 10

// refusedError is a request that the gate does not let in: the connection is closed.
type refusedError struct {
	header codec.RequestHeader
	row    *row // nil when the key has none
	err    error
}

func (e *refusedError) Error() string { return "refuse request: " + e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// readLoop reads, admits and starts requests until the connection can take no more, and returns why.
func (c *connection) readLoop(ctx context.Context) error {
	in := receiver{connection: c}
	in.buffered = bufio.NewReaderSize(&in, readBuffer)
	for {
		if err := c.wait(ctx, c.pipeline.mayRead, true); err != nil {
			return err
		}
		frame, charged, err := c.readFrame(ctx, &in)
		if err != nil {
			return err
		}
		if err := c.dispatch(ctx, frame, &charged); err != nil {
			c.server.release(charged)
			c.countRefusal(ctx, err)
			return err
		}
	}
}

// readFrame reads one frame, whose bytes are charged to the budgets.
func (c *connection) readFrame(ctx context.Context, in *receiver) ([]byte, charge, error) {
	limit := c.server.limits.MaxRequestBytes
	if !c.public.Authenticated(time.Now()) {
		limit = c.server.limits.MaxUnauthenticatedBytes
	}
	if err := in.awaitRequest(); err != nil {
		return nil, charge{}, err
	}
	size, err := codec.ReadFrameSize(in.buffered, limit)
	if err != nil {
		return nil, charge{}, readFailure(err)
	}
	first, err := c.makeRoom(ctx, size)
	if err != nil {
		return nil, charge{}, err
	}
	arriving := body{connection: c, in: in, size: size, charged: charge{records: first}}
	frame, err := arriving.read(ctx)
	if err != nil {
		return nil, charge{}, readFailure(err)
	}
	return frame, arriving.charged, nil
}

// readFailure tells a client that left from one that sent nonsense.
func readFailure(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errClientGone
	case errors.Is(err, codec.ErrFrameSize):
		return &refusedError{err: err}
	default:
		return err
	}
}

// makeRoom waits until the bytes of a frame fit beside everything unanswered of the connection, and charges the first of them.
func (c *connection) makeRoom(ctx context.Context, size int) (share, error) {
	fits := func(time.Time) readiness { return c.pipeline.hasRoom(size) }
	if err := c.wait(ctx, fits, true); err != nil {
		return share{}, err
	}
	first := int64(min(size, smallRequest))
	if c.pipeline.outstanding() == 0 {
		c.server.records.take(first)
		return share{bytes: first}, nil
	}
	if waiter := c.server.records.reserve(first); waiter != nil {
		if err := c.watch(ctx, waiter.granted, c.server.draining); err != nil {
			c.server.records.cancel(waiter)
			return share{}, err
		}
	}
	return share{bytes: first, waited: first}, nil
}

// dispatch lets one frame through the gate, waits for its turn and starts it. What it is charged is the caller's to give back after an error, else the writer's.
func (c *connection) dispatch(ctx context.Context, frame []byte, charged *charge) error {
	received := time.Now()
	chosen, header, body, err := c.server.gate.find(frame)
	if err != nil {
		return &refusedError{header: header, err: err}
	}
	turn := func(now time.Time) readiness { return c.pipeline.mayStart(chosen.Pipelined, now) }
	if err := c.wait(ctx, turn, false); err != nil {
		return err
	}
	if err := chosen.admit(c.public.Authenticated(time.Now())); err != nil {
		return &refusedError{header: header, row: chosen, err: err}
	}
	if err := c.weigh(ctx, chosen, len(frame), charged); err != nil {
		return err
	}
	message, err := c.decode(ctx, chosen, header, body)
	if err != nil {
		return &refusedError{header: header, row: chosen, err: err}
	}
	x := &exchange{server: c.server, row: chosen, frame: frame, charged: *charged, pipelined: chosen.Pipelined, request: Request{
		Header: header, Message: message, Conn: c.public, Received: received, Size: len(frame),
	}}
	x.request.exchange = x
	c.start(ctx, x)
	return nil
}

// start runs the handler's first part and queues the second. The queue has room for every request that
// mayRead lets in.
func (c *connection) start(ctx context.Context, x *exchange) {
	x.row.meter.started(ctx, x.request.Header.Version, x.request.Size)
	c.pipeline.begin(x)
	if err := c.runStart(ctx, x); err != nil {
		c.end(err)
	}
	c.queue <- x
}

// countRefusal counts a request that the gate refused, where it has a key that is counted.
func (c *connection) countRefusal(ctx context.Context, err error) {
	if refusal := (*refusedError)(nil); errors.As(err, &refusal) && refusal.row != nil {
		refusal.row.meter.failed(ctx, "refused")
	}
}
