package protocol_test

import (
	"context"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// keeping is a listener that keeps what it has accepted.
type keeping struct {
	net.Listener
	accepted chan *net.TCPConn
}

func (k keeping) Accept() (net.Conn, error) {
	conn, err := k.Listener.Accept()
	if err == nil {
		k.accepted <- conn.(*net.TCPConn)
	}
	return conn, err
}

func TestSendBuffer(t *testing.T) {
	accepted := make(chan *net.TCPConn, 1)
	listener := protocol.Listener{Name: "PLAINTEXT", Address: "127.0.0.1:0", Open: func(ctx context.Context, address string) (net.Listener, error) {
		bound, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		return keeping{bound, accepted}, err
	}}
	server := serve(t, protocol.Config{
		Listeners: []protocol.Listener{listener}, APIs: []protocol.API{metadata()}, Limits: protocol.Limits{SendBufferBytes: 100 << 10},
	})
	call[*kmsg.MetadataResponse](dial(t, server), metadataRequest())
	raw, err := (<-accepted).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var size int
	var failure error
	if err := raw.Control(func(fd uintptr) { size, failure = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF) }); err != nil || failure != nil {
		t.Fatal(err, failure)
	}
	if want := 2 * 100 << 10; size != want { // Linux doubles it for its own needs
		t.Errorf("send buffer of %d bytes, want %d", size, want)
	}
}
