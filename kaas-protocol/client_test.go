package protocol_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// serve starts a server and stops it with the test. Without listeners it gets a plaintext one.
func serve(t testing.TB, config protocol.Config) *protocol.Server {
	t.Helper()
	if config.Listeners == nil {
		config.Listeners = []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}}
	}
	server, err := protocol.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(context.Background()) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-done; err != nil && !errors.Is(err, protocol.ErrServerClosed) {
			t.Error("serve:", err)
		}
	})
	return server
}

// client is a raw connection that counts its correlation ids.
type client struct {
	t    testing.TB
	conn net.Conn
	next int32
}

func dial(t testing.TB, server *protocol.Server) *client {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr("PLAINTEXT").String())
	if err != nil {
		t.Fatal(err)
	}
	return wrap(t, conn)
}

func wrap(t testing.TB, conn net.Conn) *client {
	t.Cleanup(func() { conn.Close() })
	return &client{t: t, conn: conn}
}

// frame encodes a request with its size prefix.
func frame(request kmsg.Request, correlation int32) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, request, correlation)
}

// send writes a request and returns its correlation id.
func (c *client) send(request kmsg.Request) int32 {
	c.t.Helper()
	c.next++
	c.write(frame(request, c.next))
	return c.next
}

func (c *client) write(p []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(p); err != nil {
		c.t.Fatal("write:", err)
	}
}

// receive reads one response frame: its correlation id and what follows it.
func (c *client) receive() (int32, []byte) {
	c.t.Helper()
	correlation, body, err := c.tryReceive()
	if err != nil {
		c.t.Fatal("read:", err)
	}
	return correlation, body
}

func (c *client) tryReceive() (int32, []byte, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	var prefix [4]byte
	if _, err := io.ReadFull(c.conn, prefix[:]); err != nil {
		return 0, nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(prefix[:]))
	if _, err := io.ReadFull(c.conn, body); err != nil {
		return 0, nil, err
	}
	return int32(binary.BigEndian.Uint32(body)), body[4:], nil
}

// closed fails unless the server has closed the connection without sending anything more.
func (c *client) closed() {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	n, err := c.conn.Read(make([]byte, 1))
	if n != 0 || err == nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		c.t.Fatalf("read %d bytes, %v; want the connection closed", n, err)
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// decode reads a response body into the kind that answers the request.
func decode[R kmsg.Response](t testing.TB, request kmsg.Request, body []byte) R {
	t.Helper()
	response := request.ResponseKind().(R)
	if response.IsFlexible() && response.Key() != 18 {
		body = body[1:] // the header's empty tag buffer
	}
	if err := response.ReadFrom(body); err != nil {
		t.Fatal("decode response:", err)
	}
	return response
}

// call sends a request and reads its response.
func call[R kmsg.Response](c *client, request kmsg.Request) R {
	c.t.Helper()
	want := c.send(request)
	got, body := c.receive()
	if got != want {
		c.t.Fatalf("correlation id %d, want %d", got, want)
	}
	return decode[R](c.t, request, body)
}
