package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Reasons for which a connection ends. A request that is refused or a handler that fails ends it with an
// error of its own.
var (
	errClientGone   = errors.New("client has gone")
	errIdle         = errors.New("idle for too long")
	errDraining     = errors.New("server drains")
	errServerStops  = errors.New("server stops")
	errSaidClose    = errors.New("handler closed the connection")
	errSlowRequest  = errors.New("request did not arrive in time")
	errSlowClient   = errors.New("client does not read its responses")
	errShortSection = errors.New("record bytes ended early")
	errPanic        = errors.New("handler panicked")
)

// lingerTime is how long a connection that is closed in good order still swallows what the client sends. A
// socket closed with unread bytes answers with a reset, which can take the last response away from the client.
const lingerTime = time.Second

// connection is one accepted socket: a reader goroutine (serve), a writer goroutine (writeLoop), and what
// they share.
type connection struct {
	server   *Server
	listener *listener
	public   *Conn
	socket   *socket
	stream   net.Conn // the socket, or TLS on it
	pipeline *pipeline
	queue    chan *exchange
	cancel   context.CancelCauseFunc
	closing  chan struct{} // closed by the writer when a handler has said Close

	reasoned sync.Once
	reason   error // set once, by because
}

// exchange is one request from its start to its answer.
type exchange struct {
	server    *Server
	request   Request
	row       *row
	finish    FinishFunc
	frame     []byte
	charged   charge
	pipelined bool
}

// serve runs the connection until it has ended. It is the reader goroutine.
func (c *connection) serve(ctx context.Context) {
	ctx, c.cancel = context.WithCancelCause(ctx)
	stop := context.AfterFunc(ctx, func() { c.end(errServerStops) })
	defer stop()
	err := c.open(ctx)
	if err == nil {
		var writer sync.WaitGroup
		writer.Go(func() { c.writeLoop(ctx) })
		err = c.readLoop(ctx)
		close(c.queue)
		if !answersFirst(err) {
			c.end(err)
		}
		c.awaitWriter(ctx, &writer)
	}
	if answersFirst(err) && ctx.Err() == nil {
		c.because(err)
		c.linger()
	}
	c.end(err)
	c.stream.Close()
	c.logEnd()
}

// answersFirst reports whether earlier requests are still answered after reading has ended this way, and the
// client has a right to the last response. In Kafka, which takes one request at a time, they would have been
// answered before the client's mistake was read.
func answersFirst(err error) bool {
	var refusal *refusedError
	return errors.Is(err, errDraining) || errors.Is(err, errIdle) || errors.Is(err, errSaidClose) || errors.As(err, &refusal)
}

// open does what precedes the first request: TLS handshake and authentication by the transport.
func (c *connection) open(ctx context.Context) error {
	if encrypted, is := c.stream.(*tls.Conn); is {
		limited, cancel := context.WithTimeout(ctx, c.server.limits.HandshakeTimeout)
		defer cancel()
		if err := encrypted.HandshakeContext(limited); err != nil {
			return fmt.Errorf("shake hands: %w", err)
		}
		state := encrypted.ConnectionState()
		c.public.info.TLS = &state
	}
	if c.listener.config.Authenticator == nil {
		c.public.Authenticate(Anonymous, time.Time{})
		return nil
	}
	principal, err := c.listener.config.Authenticator.Begin(ctx, c.public)
	if err != nil {
		return fmt.Errorf("authenticate the transport: %w", err)
	}
	c.public.Authenticate(principal, time.Time{})
	return nil
}

// plaintext reports whether bytes may bypass the stream.
func (c *connection) plaintext() bool { return c.stream == net.Conn(c.socket) }

// end cancels the connection's requests and closes the socket at once, which frees reader and writer. It never
// waits for the peer, as closing TLS would.
func (c *connection) end(reason error) {
	c.because(reason)
	c.cancel(reason)
	c.socket.Close()
}

// because records why the connection ends. Only the first reason counts.
func (c *connection) because(reason error) {
	c.reasoned.Do(func() {
		if errors.Is(reason, context.Canceled) {
			reason = errServerStops
		}
		c.reason = reason
	})
}

// awaitWriter waits until everything that was started has been answered, or the client has gone.
func (c *connection) awaitWriter(ctx context.Context, writer *sync.WaitGroup) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		writer.Wait()
	}()
	if err := c.watch(ctx, answered, nil); err != nil {
		c.end(err)
	}
	<-answered
}

// linger sends FIN and swallows what the client still sends, until it closes too or lingerTime has passed.
func (c *connection) linger() {
	if encrypted, is := c.stream.(*tls.Conn); is {
		c.socket.sendTimeout = lingerTime
		_ = encrypted.CloseWrite()
	}
	if err := c.socket.closeWrite(); err != nil {
		return
	}
	_ = c.socket.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.socket)
}

// wake interrupts a reader that waits for the next request, after the server's draining channel or the
// connection's closing channel has been closed: the reader looks at them after each deadline that it sets.
func (c *connection) wake() { _ = c.socket.SetReadDeadline(time.Unix(1, 0)) }
