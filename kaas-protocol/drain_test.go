package protocol_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestShutdownLetsRequestsInFlightFinish(t *testing.T) {
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), metadata()}})
	busy, idle, half := dial(t, server), dial(t, server), dial(t, server)
	want := busy.send(fetchRequest())
	request := within(t, "start", fetches.started)
	call[*kmsg.MetadataResponse](idle, metadataRequest())
	half.write(frame(metadataRequest(), 1)[:20])
	busy.send(fetchRequest()) // pipelined, so started and answered too
	within(t, "start", fetches.started)

	down := make(chan error, 1)
	go func() { down <- server.Shutdown(context.Background()) }()
	idle.closed()
	half.closed()
	select {
	case <-request.Conn.Draining():
	case <-time.After(patience):
		t.Fatal("handlers are not told of the drain")
	}
	if conn, err := net.Dial("tcp", server.Addr("PLAINTEXT").String()); err == nil {
		conn.Close()
		t.Error("a draining server still accepts")
	}
	select {
	case err := <-down:
		t.Fatalf("shut down with %v while a fetch is parked", err)
	case <-time.After(20 * time.Millisecond):
	}
	_, _ = busy.conn.Write(frame(metadataRequest(), 50)) // after the drain began: not read
	fetches.let <- protocol.Reply{}
	fetches.let <- protocol.Reply{}
	for i := range int32(2) {
		if got, _ := busy.receive(); got != want+i {
			t.Fatalf("response %d, want %d", got, want+i)
		}
	}
	if _, err := busy.conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the last response: %v, want a clean end", err)
	}
	busy.conn.Close()
	if err := within(t, "shutdown", down); err != nil {
		t.Error(err)
	}
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}})
	client := dial(t, server)
	client.send(fetchRequest())
	within(t, "start", fetches.started)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shutdown: %v, want the context's error", err)
	}
	within(t, "the parked fetch is canceled", fetches.canceled)
	client.closed()
}

func TestServeEndsWithItsContext(t *testing.T) {
	fetches := newParked()
	server, err := protocol.New(protocol.Config{
		APIs:      []protocol.API{fetches.api()},
		Listeners: []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	client := dial(t, server)
	client.send(fetchRequest())
	within(t, "start", fetches.started)
	cancel()
	if err := within(t, "serve", done); err != nil {
		t.Error(err)
	}
	client.closed()
	if err := server.Serve(context.Background()); !errors.Is(err, protocol.ErrServerClosed) {
		t.Errorf("serve again: %v, want ErrServerClosed", err)
	}
	if err := errors.Join(server.Shutdown(context.Background()), server.Close()); err != nil {
		t.Error("stop again:", err)
	}
}

func TestServerThatNeverServedStops(t *testing.T) {
	for name, stop := range map[string]func(*protocol.Server) error{
		"close":    (*protocol.Server).Close,
		"shutdown": func(s *protocol.Server) error { return s.Shutdown(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			server, err := protocol.New(protocol.Config{Listeners: []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0"}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Listen(); err != nil {
				t.Fatal(err)
			}
			address := server.Addr("PLAINTEXT").String()
			if err := stop(server); err != nil {
				t.Fatal(err)
			}
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				t.Error("the listener is still open")
			}
		})
	}
}

func TestReplyThatCloses(t *testing.T) {
	closing := replying(func(r *protocol.Request) (protocol.Reply, error) {
		reply := protocol.Reply{Message: metadataAnswer(r), Close: true}
		if r.Header.CorrelationID == 2 {
			reply.Message = nil
		}
		return reply, nil
	})
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{closing, fetches.api()}})
	t.Run("after its response", func(t *testing.T) {
		client := dial(t, server)
		client.write(append(frame(metadataRequest(), 1), frame(metadataRequest(), 3)...))
		if got, _ := client.receive(); got != 1 {
			t.Fatalf("response %d, want 1", got)
		}
		client.closed()
	})
	t.Run("instead of a response", func(t *testing.T) {
		client := dial(t, server)
		client.write(frame(metadataRequest(), 2))
		client.closed()
	})
	t.Run("in front of parked requests", func(t *testing.T) {
		client := dial(t, server)
		client.send(fetchRequest())
		client.send(fetchRequest())
		within(t, "start", fetches.started)
		within(t, "start", fetches.started)
		fetches.let <- protocol.Reply{Close: true}
		client.receive()
		within(t, "a request behind it is canceled", fetches.canceled)
		client.closed()
	})
}
