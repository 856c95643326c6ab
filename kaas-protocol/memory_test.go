package protocol_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// memory is a listener over net.Pipe, for tests inside a synctest bubble.
type memory struct {
	accepted chan net.Conn
	once     sync.Once
	closed   chan struct{}
}

func newMemory() *memory { return &memory{accepted: make(chan net.Conn), closed: make(chan struct{})} }

func (m *memory) listener() protocol.Listener {
	return protocol.Listener{Name: "MEMORY", Open: func(context.Context, string) (net.Listener, error) { return m, nil }}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.accepted:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

// dial returns the client's end of a connection that the server has accepted.
func (m *memory) dial(t testing.TB) *client {
	ours, theirs := net.Pipe()
	m.accepted <- theirs
	return wrap(t, ours)
}
