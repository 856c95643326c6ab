package protocol

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// socket is the transport of a connection. Its writes go on for as long as the peer takes bytes, however
// slowly, and fail when it has taken none for sendTimeout. TLS runs on top of it, so that the deadline never
// cuts a TLS record.
type socket struct {
	net.Conn
	sendTimeout time.Duration
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
	written := 0
	for {
		if err := s.SetWriteDeadline(time.Now().Add(s.sendTimeout)); err != nil {
			return written, err
		}
		n, err := s.Conn.Write(p[written:])
		written += n
		switch {
		case err == nil:
			return written, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return written, err
		case n == 0:
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
