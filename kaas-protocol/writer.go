package protocol

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
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
	if reply.Recycle && err == nil {
		c.server.frames.put(x.frame)
	}
	x.frame = nil
	c.server.release(x.charged)
	c.pipeline.end(x, reply.Throttle, time.Now())
	if err != nil && ctx.Err() == nil {
		x.row.meter.failed(ctx, endLabel(err))
		c.end(fmt.Errorf("answer %s: %w", x.row.spec.Name, err))
	}
	return closed
}

// runSend sends a reply and records it.
func (c *connection) runSend(ctx context.Context, out *outbox, x *exchange, reply Reply) (err error) {
	defer c.recovered(ctx, x.row, &err)
	var sent int64
	if reply.Message != nil {
		if err := fits(x.request.Header, reply.Message); err != nil {
			return err
		}
		if sent, err = out.send(x.request.Header, reply); err != nil {
			return err
		}
	}
	x.row.meter.answered(ctx, time.Since(x.request.Received), sent, reply.Throttle)
	return nil
}

// fits refuses a response that the client could not read as the answer to its request.
func fits(header codec.RequestHeader, response kmsg.Response) error {
	if response.Key() == header.Key && (response.GetVersion() == header.Version || header.Key == keyAPIVersions) {
		return nil
	}
	return fmt.Errorf("response of key %d version %d to a request of key %d version %d",
		response.Key(), response.GetVersion(), header.Key, header.Version)
}

// decode reads the body of an admitted request.
func (c *connection) decode(ctx context.Context, chosen *row, header codec.RequestHeader, body []byte) (message kmsg.Request, err error) {
	defer c.recovered(ctx, chosen, &err)
	return c.server.gate.decode(chosen, header, body)
}

// runStart runs the handler's first part on the reader.
func (c *connection) runStart(ctx context.Context, x *exchange) (err error) {
	defer c.recovered(ctx, x.row, &err)
	x.finish = x.row.Start(ctx, &x.request)
	return nil
}

// runFinish runs the handler's second part on the writer.
func (c *connection) runFinish(ctx context.Context, x *exchange) (reply Reply, err error) {
	defer c.recovered(ctx, x.row, &err)
	if x.finish == nil {
		return Reply{}, fmt.Errorf("handler of %s returned nothing to finish", x.row.spec.Name)
	}
	return x.finish(ctx)
}

// recovered turns a panic into the end of this connection. It is deferred around everything that depends on
// what a client sent.
func (c *connection) recovered(ctx context.Context, r *row, err *error) {
	value := recover()
	if value == nil {
		return
	}
	*err = errPanic
	r.meter.panicked(ctx)
	c.server.config.Logger.Error().Str("connection", c.public.ID()).Str("api", r.spec.Name).
		Interface("panic", value).Bytes("stack", debug.Stack()).Msg("handler panicked, closing its connection")
}

// release gives every section back.
func (r Reply) release() {
	for _, topic := range r.Sections {
		for _, section := range topic {
			if section != nil {
				section.Release()
			}
		}
	}
}

// recordBytes is the size of one partition's section.
func (r Reply) recordBytes(topic, partition int) int {
	if section := r.section(topic, partition); section != nil {
		return int(section.Size())
	}
	return 0
}

// section returns one partition's section, or nil.
func (r Reply) section(topic, partition int) Section {
	if topic >= len(r.Sections) || partition >= len(r.Sections[topic]) {
		return nil
	}
	return r.Sections[topic][partition]
}
