package protocol

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// API is one row of the dispatch table: the handler of one Kafka request key, for every version of its
// codec.ApiSpec. Only keys with a row are advertised; ApiVersions (18) belongs to this package and has none.
type API struct {
	// Key is the Kafka API key.
	Key int16
	// Pipelined lets Start run while earlier pipelined requests of the same connection are unanswered
	// (Produce, Fetch). Any other request starts only when every earlier one has been answered, as in Kafka.
	Pipelined bool
	// BeforeAuth admits the request on a connection that has not authenticated. Only SaslHandshake (17) and
	// SaslAuthenticate (36) may set it.
	BeforeAuth bool
	// Start begins the request.
	Start StartFunc
}

// StartFunc begins a request on the connection's reader goroutine: while it runs nothing more is read from that
// connection. Long waits and long work belong into the function it returns, which must not be nil.
//
// The context ends when the connection ends or the server stops.
type StartFunc func(ctx context.Context, r *Request) FinishFunc

// FinishFunc completes a request on the connection's writer goroutine, when every earlier response has been
// sent. It is called exactly once, also when the connection has ended meanwhile: then its context is already
// canceled, and its reply is released and settled instead of sent. An error closes the connection and is logged, unless
// it is the context's.
type FinishFunc func(ctx context.Context) (Reply, error)

// Request is one decoded request.
type Request struct {
	// Header is the request header: key, version, correlation id, client id.
	Header codec.RequestHeader
	// Message is the decoded body. Its byte slices alias the frame and may be kept for as long as needed,
	// unless the handler itself returns the frame with Reply.Recycle or Reply.Settle.
	Message kmsg.Request
	// Conn is the connection that the request came on.
	Conn *Conn
	// Received is when the whole frame had been read, before any wait for earlier requests.
	Received time.Time
	// Size is the frame's length in bytes, without the four bytes of its size prefix.
	Size int

	exchange *exchange // nil outside of a server
}

// Forget gives back what the request is charged for, its frame and what decoding it took, before it is answered. It is for a request whose answer may wait for
// other clients, as long as these like (JoinGroup, SyncGroup): what is kept of it meanwhile is the handler's to bound, and no byte of Message may be among
// that. Only a FinishFunc may call it, on its own goroutine.
func (r *Request) Forget() {
	r.Message = nil
	if x := r.exchange; x != nil {
		x.server.release(x.charged)
		x.charged, x.frame = charge{}, nil
	}
}

// chargePatience is how long an answer waits for room: as long as clients wait for it by default (request.timeout.ms).
const chargePatience = 30 * time.Second

// ErrNoRoom is that an answer has found no room beside others in time.
var ErrNoRoom = errors.New("no room for so large an answer beside others")

// Charge counts so many bytes of memory for the answer, until it has been sent, and waits for their room among everything that is not records, for half a
// minute at most. It is for a handler whose answer is large beside its request: without it, many clients that ask for such answers at the same time, and
// read them slowly, would take more memory than there is. Only a FinishFunc may call it, and not concurrently. The error is ErrNoRoom or the context's
// cause; nothing was counted then.
func (r *Request) Charge(ctx context.Context, bytes int64) error {
	x := r.exchange
	if x == nil {
		return nil
	}
	if waiter := x.server.plain.reserveMore(x.charged.plain.waited, bytes); waiter != nil {
		patience := time.NewTimer(chargePatience)
		defer patience.Stop()
		err := ErrNoRoom
		select {
		case <-waiter.granted:
			err = nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-patience.C:
		}
		if err != nil {
			x.server.plain.cancel(waiter)
			return err
		}
	}
	x.charged.plain.add(bytes)
	return nil
}

// Refund gives back bytes that Charge has counted and that the answer has turned out not to need. Only a FinishFunc may call it, and not concurrently.
func (r *Request) Refund(bytes int64) {
	if x := r.exchange; x != nil && bytes > 0 {
		x.server.plain.release(share{bytes, bytes})
		x.charged.plain.add(-bytes)
	}
}
