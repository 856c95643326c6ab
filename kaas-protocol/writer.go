package protocol

import (
	"context"
	"fmt"
	"time"
)

// writeLoop answers requests in the order in which they were started, until the reader closes the queue. It
// calls every FinishFunc, also when nothing can be sent any more.
func (c *connection) writeLoop(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := outbox{connection: c}
	for x := range c.queue {
		if c.answer(ctx, &out, x) {
			cancel()
			close(c.closing)
			c.wake()
		}
	}
}

// answer completes one request, sends its response and takes it off the pipeline. It reports whether the
// handler has closed the connection.
func (c *connection) answer(ctx context.Context, out *outbox, x *exchange) (closed bool) {
	reply, err := c.runFinish(ctx, x)
	if ctx.Err() == nil && err == nil {
		err = c.runSend(ctx, out, x, reply)
		closed = reply.Close && err == nil
	}
	reply.release()
	c.failed(ctx, x, err)
	recycle, unsettled := c.runSettle(ctx, x, reply)
	c.failed(ctx, x, unsettled)
	if recycle && err == nil {
		c.server.frames.put(x.frame)
	}
	x.frame = nil
	c.server.release(x.charged)
	c.pipeline.end(x, reply.Throttle, time.Now())
	return closed
}

// failed ends the connection for an error that keeps a request from its answer, unless it has ended already.
func (c *connection) failed(ctx context.Context, x *exchange, err error) {
	if err != nil && ctx.Err() == nil {
		x.row.meter.failed(ctx, endLabel(err))
		c.end(fmt.Errorf("answer %s: %w", x.row.spec.Name, err))
	}
}

// runSettle waits until nobody reads the request's bytes any more. It reports whether its frame may be used again.
func (c *connection) runSettle(ctx context.Context, x *exchange, reply Reply) (recycle bool, err error) {
	if reply.Settle == nil {
		return reply.Recycle, nil
	}
	defer c.recovered(ctx, x.row, &err)
	return reply.Settle(), nil
}

// runSend sends a reply and records it.
func (c *connection) runSend(ctx context.Context, out *outbox, x *exchange, reply Reply) (err error) {
	defer c.recovered(ctx, x.row, &err)
	var sent int64
	if reply.Message != nil {
		if err := fits(x.request.Header, reply.Message); err != nil {
			return err
		}
		if pace := newPace(c.server.plain, x.charged.plain.bytes); pace != nil {
			c.socket.pace.Store(pace)
			defer c.socket.pace.Store(nil)
		}
		if sent, err = out.send(x.request.Header, reply); err != nil {
			return err
		}
	}
	x.row.meter.answered(ctx, time.Since(x.request.Received), sent, reply.Throttle)
	return nil
}
