package protocol_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// ended is closed when the server has closed the connection.
func ended(c *client) <-chan time.Time {
	at := make(chan time.Time, 1)
	go func() {
		_ = c.conn.SetReadDeadline(time.Time{})
		_, _ = c.conn.Read(make([]byte, 1))
		at <- time.Now()
	}()
	return at
}

func inMemory(t *testing.T, limits protocol.Limits, apis ...protocol.API) *memory {
	m := newMemory()
	serve(t, protocol.Config{Listeners: []protocol.Listener{m.listener()}, APIs: apis, Limits: limits})
	return m
}

func TestIdleConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := inMemory(t, protocol.Limits{MaxIdle: time.Minute}, metadata())
		client, silent := m.dial(t), m.dial(t)
		begun := time.Now()
		never := ended(silent)
		time.Sleep(40 * time.Second)
		client.send(metadataRequest())
		client.receive()
		used := time.Now()
		if got := (<-ended(client)).Sub(used); got != time.Minute {
			t.Errorf("closed %s after its last response, want 1m", got)
		}
		if got := (<-never).Sub(begun); got != time.Minute {
			t.Errorf("a connection without a request closed after %s, want 1m", got)
		}
	})
}

func TestParkedConnectionIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetches := newParked()
		m := inMemory(t, protocol.Limits{MaxIdle: time.Minute}, fetches.api())
		client := m.dial(t)
		want := client.send(fetchRequest())
		time.Sleep(time.Hour)
		fetches.let <- protocol.Reply{}
		if got, _ := client.receive(); got != want {
			t.Fatalf("response %d, want %d", got, want)
		}
		answered := time.Now()
		if got := (<-ended(client)).Sub(answered); got < time.Minute || got > 70*time.Second {
			t.Errorf("closed %s after its last response, want about 1m", got)
		}
	})
}

// throttling adds a throttle to what another handler answers.
func throttling(api protocol.API, throttle time.Duration) protocol.API {
	start := api.Start
	api.Start = func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
		finish := start(ctx, r)
		return func(ctx context.Context) (protocol.Reply, error) {
			reply, err := finish(ctx)
			reply.Throttle = throttle
			return reply, err
		}
	}
	return api
}

func TestThrottleMutesTheConnection(t *testing.T) {
	const throttle = 3 * time.Minute
	for name, acks := range map[string]int16{"with a response": -1, "acks=0": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// The connection is muted for longer than it may be idle.
				m := inMemory(t, protocol.Limits{MaxIdle: time.Minute}, throttling(produce(nil), throttle), metadata())
				client, other := m.dial(t), m.dial(t)
				begun := time.Now()
				client.send(produceRequest(acks, 10))
				if acks != 0 {
					client.receive()
				}
				synctest.Wait()
				other.send(metadataRequest())
				other.receive()
				if waited := time.Since(begun); waited != 0 {
					t.Errorf("the throttled response or another connection waited %s", waited)
				}
				go client.write(frame(metadataRequest(), 99)) // the server may not be reading
				_ = client.conn.SetReadDeadline(time.Time{})
				if _, err := client.conn.Read(make([]byte, 4)); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(begun); waited != throttle {
					t.Errorf("the next request was answered after %s, want %s", waited, throttle)
				}
			})
		})
	}
}

func TestMutedConnectionIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const throttle = 3 * time.Minute
		client := inMemory(t, protocol.Limits{MaxIdle: time.Minute}, throttling(produce(nil), throttle)).dial(t)
		client.send(produceRequest(-1, 10))
		client.receive()
		answered := time.Now()
		if got := (<-ended(client)).Sub(answered); got != throttle+time.Minute {
			t.Errorf("closed after %s, want the throttle and the idle time", got)
		}
	})
}

func TestSlowRequestIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := inMemory(t, protocol.Limits{ReceiveTimeout: 20 * time.Second}, metadata())
		client := m.dial(t)
		client.write([]byte{0, 1, 0, 0, 1, 2, 3}) // 64 KiB announced: one second more
		begun := time.Now()
		if got := (<-ended(client)).Sub(begun); got != 21*time.Second {
			t.Errorf("closed after %s, want 21s", got)
		}
	})
}

func TestClientThatTakesNothingIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := inMemory(t, protocol.Limits{SendTimeout: 20 * time.Second}, metadata()).dial(t)
		client.send(metadataRequest())
		time.Sleep(20*time.Second + 1)
		synctest.Wait()
		if _, _, err := client.tryReceive(); err == nil {
			t.Error("the response is still there after the send timeout")
		}
	})
}

func TestClientThatTakesAByteNowAndThenIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := inMemory(t, protocol.Limits{SendTimeout: 20 * time.Second}, metadata()).dial(t)
		client.send(metadataRequest())
		_ = client.conn.SetReadDeadline(time.Time{})
		for i := range 8 {
			time.Sleep(19 * time.Second)
			if _, err := client.conn.Read(make([]byte, 1)); err != nil {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	})
}
