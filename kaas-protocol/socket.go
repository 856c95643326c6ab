package protocol

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// socket is the transport of a connection. Its writes go on for as long as the peer takes bytes, however
// slowly, and fail when it has taken none for sendTimeout; those of an answer that holds the room of others have to keep its pace. TLS runs on top of it, so
// that the deadline never cuts a TLS record.
type socket struct {
	net.Conn
	sendTimeout time.Duration
	pace        atomic.Pointer[pace]
	raw         syscall.RawConn // nil when the transport is no socket of the operating system
}

func newSocket(transport net.Conn, sendTimeout time.Duration) *socket {
	s := &socket{Conn: transport, sendTimeout: sendTimeout}
	if system, is := transport.(syscall.Conn); is {
		if raw, err := system.SyscallConn(); err == nil {
			s.raw = raw
		}
	}
	return s
}

// Write writes all of p.
func (s *socket) Write(p []byte) (int, error) {
	now := time.Now()
	written, taken := 0, now
	for {
		pace, timeout := s.pace.Load(), s.sendTimeout
		if pace != nil {
			timeout = min(timeout, lookInterval)
		}
		if !pace.kept() {
			return written, errSlowClient
		}
		if err := s.SetWriteDeadline(now.Add(timeout)); err != nil {
			return written, err
		}
		n, err := s.Conn.Write(p[written:])
		written += n
		pace.add(n)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return written, err
		}
		now = time.Now()
		if n > 0 {
			taken = now
		}
		if now.Sub(taken) >= s.sendTimeout {
			return written, errSlowClient
		}
	}
}

// closeWrite sends FIN; errors.ErrUnsupported when the transport cannot.
func (s *socket) closeWrite() error {
	if half, is := s.Conn.(interface{ CloseWrite() error }); is {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
