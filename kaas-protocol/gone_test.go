package protocol_test

import (
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestClientThatLeavesCancelsItsParkedFetch(t *testing.T) {
	leave := map[string]func(*client){
		"closes":      func(c *client) { c.conn.Close() },
		"half closes": func(c *client) { _ = c.conn.(*net.TCPConn).CloseWrite() },
		"resets": func(c *client) {
			_ = c.conn.(*net.TCPConn).SetLinger(0)
			c.conn.Close()
		},
	}
	for name, act := range leave {
		t.Run(name, func(t *testing.T) {
			fetches := newParked()
			client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}}))
			client.send(fetchRequest())
			within(t, "start", fetches.started)
			act(client)
			within(t, "the context of a parked fetch ends", fetches.canceled)
		})
	}
}

func TestClientThatLeavesWhileTheReaderWaits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what became of a peer without reading")
	}
	fetches := newParked()
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), metadata()}}))
	client.send(fetchRequest())
	within(t, "start", fetches.started)
	client.send(metadataRequest()) // read, and waits for the fetch
	time.Sleep(20 * time.Millisecond)
	client.conn.Close()
	within(t, "the context of a parked fetch ends", fetches.canceled)
}

func TestAcksZeroBeforeLeavingIsStarted(t *testing.T) {
	produced := make(chan int32, 100)
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{produce(produced)}}))
	for range 20 {
		client.send(produceRequest(0, 10_000))
	}
	client.conn.Close()
	for range 20 {
		within(t, "start", produced)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts descriptors in /proc")
	}
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	for range 3 {
		fetches := newParked()
		server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), metadata()}})
		for i := range 20 {
			client := dial(t, server)
			switch i % 5 {
			case 0: // parked
				client.send(fetchRequest())
			case 1: // half a frame
				client.write([]byte{0, 0, 1})
			case 2: // refused
				client.write([]byte("GET / HTTP/1.1\r\n\r\n"))
			case 3: // gone
				client.send(fetchRequest())
				client.conn.Close()
			case 4: // a request that waits for another, and one more in the socket
				client.send(fetchRequest())
				client.send(metadataRequest())
				client.send(metadataRequest())
			}
			t.Cleanup(func() { client.conn.Close() })
			defer client.conn.Close()
		}
		time.Sleep(20 * time.Millisecond)
		server.Close()
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		more, files := runtime.NumGoroutine()-goroutines, openDescriptors(t)-descriptors
		// The test's own ends of the connections are still open: 48 of them.
		if more <= 0 && files <= 48 {
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines and %d descriptors are left\n%s", more, files, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	sockets := 0
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			sockets++
		}
	}
	return sockets
}
