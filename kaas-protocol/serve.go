package protocol

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Serve accepts and serves connections, after Listen, until the context ends (which closes every connection
// at once) or Shutdown or Close is called, and returns when every goroutine of the server has ended. It
// returns nil after an orderly end, and ErrServerClosed when the server is not in the state to be served.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	accepting, stopAccepting := context.WithCancel(ctx)
	defer stopAccepting()
	if !s.begin(ctx, accepting) {
		return ErrServerClosed
	}
	select {
	case <-ctx.Done():
	case <-s.stopping:
	case <-s.draining:
	}
	stopAccepting()
	s.drain(ctx)
	cancel(errServerStops)
	s.goroutines.Wait()
	s.mutex.Lock()
	s.phase = phaseClosed
	s.mutex.Unlock()
	close(s.finished)
	return nil
}

// begin starts the acceptors and the certificate watches.
func (s *Server) begin(ctx, accepting context.Context) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.phase != phaseListening {
		return false
	}
	s.phase = phaseServing
	for _, l := range s.listeners {
		s.goroutines.Go(func() { l.accept(accepting, ctx) })
		if l.certificates != nil {
			s.goroutines.Go(func() { l.certificates.watch(ctx) })
		}
	}
	return true
}

// drain closes the listeners, tells every connection to end after its last response, and waits for them until
// the context ends or Close is called.
func (s *Server) drain(ctx context.Context) {
	s.mutex.Lock()
	s.phase = phaseDraining
	s.unbindLocked()
	for c := range s.connections {
		c.wake()
	}
	s.mutex.Unlock()
	for s.open() > 0 {
		select {
		case <-s.ended:
		case <-s.stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) open() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.connections)
}

// adopt starts the goroutine of an admitted connection, unless the server ends.
func (s *Server) adopt(ctx context.Context, l *listener, transport net.Conn, address netip.Addr) bool {
	c := s.newConnection(l, transport)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.phase != phaseServing {
		return false
	}
	s.connections[c] = struct{}{}
	s.meters.opened(ctx, l.config.Name)
	s.goroutines.Go(func() {
		c.serve(ctx)
		s.admission.leave(l, address)
		s.meters.ended(ctx, l.config.Name, endLabel(c.reason))
		s.mutex.Lock()
		delete(s.connections, c)
		s.mutex.Unlock()
		select {
		case s.ended <- struct{}{}:
		default:
		}
	})
	return true
}

func (s *Server) newConnection(l *listener, transport net.Conn) *connection {
	if buffered, is := transport.(interface{ SetWriteBuffer(bytes int) error }); is && s.limits.SendBufferBytes > 0 {
		_ = buffered.SetWriteBuffer(s.limits.SendBufferBytes) // an economy, not a promise
	}
	socket := newSocket(transport, s.limits.SendTimeout)
	c := &connection{
		server:   s,
		listener: l,
		socket:   socket,
		stream:   socket,
		pipeline: newPipeline(s.limits, time.Now()),
		queue:    make(chan *exchange, s.limits.InFlightRequests),
		closing:  make(chan struct{}),
		public: NewConn(ConnInfo{
			ID:       fmt.Sprintf("%s-%s-%d", transport.LocalAddr(), transport.RemoteAddr(), s.serial.Add(1)),
			Listener: l.config.Name,
			Local:    transport.LocalAddr(),
			Remote:   transport.RemoteAddr(),
			Draining: s.draining,
		}),
	}
	if l.certificates != nil {
		c.stream = tls.Server(socket, l.certificates.server)
	}
	return c
}

// Shutdown stops accepting, closes idle connections, lets the requests in flight finish and closes each
// connection after its last response. When the context ends first the remaining connections are closed at
// once and the context's error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	if !s.signal(s.draining) {
		return nil
	}
	select {
	case <-s.finished:
		return nil
	case <-ctx.Done():
		s.signal(s.stopping)
		<-s.finished
		return ctx.Err()
	}
}

// Close closes listeners and connections at once and waits for their goroutines.
func (s *Server) Close() error {
	if s.signal(s.stopping) {
		<-s.finished
	}
	return nil
}

// signal closes one of the server's channels, once, and reports whether Serve is there to act on it. A server
// that is not being served is closed here.
func (s *Server) signal(channel chan struct{}) (serving bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	select {
	case <-channel:
	default:
		close(channel)
	}
	switch s.phase {
	case phaseNew, phaseListening:
		s.unbindLocked()
		s.phase = phaseClosed
		close(s.finished)
		return false
	default:
		return true
	}
}
