package harness

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"
)

// Where freeAddress looks: below the ports that outgoing connections get, because those of the clients would otherwise take a port while its
// broker is down. Apache Kafka also takes the port 10000 above its own. Health ports are apart, so that none can take a stopped broker's port.
const (
	firstBrokerPort = 20000
	firstHealthPort = 23000
	portsToTry      = 2700
)

// FreeAddress is a loopback host:port for a program beside the broker, where nobody listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return freeAddress(t, firstHealthPort)
}

// freeAddress finds a loopback port that nobody uses, above first.
func freeAddress(t testing.TB, first int) string {
	t.Helper()
	start := int(time.Now().UnixNano() / 1000 % portsToTry)
	for try := range portsToTry {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+(start+try)%portsToTry))
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
		if err != nil {
			continue
		}
		_ = listener.Close()
		return address
	}
	t.Fatalf("no free port in %d above %d", portsToTry, first)
	return ""
}

// waitForPort returns when the address accepts connections, or fails the test when the process has left or 60 seconds have passed.
func waitForPort(t testing.TB, address string, left <-chan struct{}, log func() string) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		connection, err := (&net.Dialer{Timeout: time.Second}).Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
			return
		}
		select {
		case <-left:
			t.Fatalf("the broker left instead of listening on %s:\n%s", address, tail(log(), 8<<10))
		case <-deadline:
			t.Fatalf("the broker does not listen on %s:\n%s", address, tail(log(), 8<<10))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
