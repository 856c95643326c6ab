package protocol_test

import (
	"context"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// served reports whether the server answers on a connection before the pause has passed.
func served(c *client, pause time.Duration) bool {
	_, _ = c.conn.Write(frame(kmsg.NewPtrApiVersionsRequest(), 1))
	_ = c.conn.SetReadDeadline(time.Now().Add(pause))
	_, err := c.conn.Read(make([]byte, 1024))
	return err == nil
}

func TestMaxConnectionsMakesClientsWait(t *testing.T) {
	total := protocol.Config{Limits: protocol.Limits{MaxConnections: 2}}
	single := protocol.Config{Listeners: []protocol.Listener{{Name: "PLAINTEXT", Address: "127.0.0.1:0", MaxConnections: 2}}}
	for name, config := range map[string]protocol.Config{"in total": total, "of a listener": single} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, config)
			first, second, third := dial(t, server), dial(t, server), dial(t, server)
			if !served(first, patience) || !served(second, patience) {
				t.Fatal("a connection within the bound is not served")
			}
			if served(third, 50*time.Millisecond) {
				t.Fatal("a third connection is served with two allowed")
			}
			first.conn.Close()
			if _, _, err := third.tryReceive(); err != nil {
				t.Fatal("the waiting connection is not served when another has ended:", err)
			}
		})
	}
}

func TestMaxConnectionsPerIPClosesFurtherOnes(t *testing.T) {
	for name, limits := range map[string]protocol.Limits{
		"bound":                 {MaxConnectionsPerIP: 1},
		"override":              {MaxConnectionsPerIP: 100, MaxConnectionsPerIPOverrides: map[string]int{"127.0.0.1": 1}},
		"override of none":      {MaxConnectionsPerIP: -1, MaxConnectionsPerIPOverrides: map[string]int{"127.0.0.1": 1}},
		"override, mapped IPv6": {MaxConnectionsPerIP: -1, MaxConnectionsPerIPOverrides: map[string]int{"::ffff:127.0.0.1": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, protocol.Config{Limits: limits})
			first := dial(t, server)
			if !served(first, patience) {
				t.Fatal("the first connection is not served")
			}
			dial(t, server).closed()
			first.conn.Close()
			for deadline := time.Now().Add(patience); !served(dial(t, server), patience); {
				if time.Now().After(deadline) {
					t.Fatal("no connection is served after the first has ended")
				}
			}
		})
	}
}

func TestNoConnectionsPerIPButOverrides(t *testing.T) {
	server := serve(t, protocol.Config{Limits: protocol.Limits{MaxConnectionsPerIP: -1}})
	dial(t, server).closed()
}

func TestConnectionRate(t *testing.T) {
	for name, config := range map[string]protocol.Config{
		"of all listeners": {Limits: protocol.Limits{ConnectionRate: 1}},
		"of a listener":    {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				listening := m.listener()
				if config.Limits.ConnectionRate == 0 {
					listening.ConnectionRate = 1
				}
				config.Listeners = []protocol.Listener{listening}
				serve(t, config)
				begun := time.Now()
				for i := range 3 {
					client := m.dial(t)
					call[*kmsg.ApiVersionsResponse](client, kmsg.NewPtrApiVersionsRequest())
					if got, want := time.Since(begun), time.Duration(i)*time.Second; got != want {
						t.Errorf("connection %d served after %s, want %s", i, got, want)
					}
				}
			})
		})
	}
}

// failing is a listener whose Accept fails a number of times before it hands on.
type failing struct {
	net.Listener
	err   error
	fails int
	calls chan time.Time
}

func (f *failing) Accept() (net.Conn, error) {
	if f.fails > 0 {
		f.fails--
		f.calls <- time.Now()
		return nil, f.err
	}
	return f.Listener.Accept()
}

func TestAcceptErrorsAreWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		const fails = 12
		broken := &failing{Listener: m, err: syscall.EMFILE, fails: fails, calls: make(chan time.Time, fails)}
		logged := newLog()
		serve(t, protocol.Config{Logger: logged.logger(), Listeners: []protocol.Listener{{
			Name: "BROKEN", Open: func(context.Context, string) (net.Listener, error) { return broken, nil },
		}}})
		begun := time.Now()
		call[*kmsg.ApiVersionsResponse](m.dial(t), kmsg.NewPtrApiVersionsRequest())
		if took := time.Since(begun); took < 5*time.Second || took > 8*time.Second {
			t.Errorf("%d failures took %s, want pauses that grow from 5 ms to 1 s", fails, took)
		}
		if got := logged.count("cannot accept connections"); got != 1 {
			t.Errorf("%d log lines about %d failures within 10 s, want 1", got, fails)
		}
	})
}
