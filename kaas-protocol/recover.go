package protocol

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

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
