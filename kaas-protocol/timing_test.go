package protocol_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
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

// charging answers with so many bytes, and charges them before.
func charging(bytes int, now, most *atomic.Int32) protocol.API {
	return replyingWith(func(ctx context.Context, r *protocol.Request) (protocol.Reply, error) {
		if err := r.Charge(ctx, int64(2*bytes)); err != nil {
			return protocol.Reply{}, err
		}
		r.Refund(int64(bytes))
		for present, seen := now.Add(1), most.Load(); present > seen && !most.CompareAndSwap(seen, present); seen = most.Load() {
		}
		answer := metadataAnswer(r)
		*answer.ClusterID = strings.Repeat("c", bytes)
		return protocol.Reply{Message: answer, Settle: func() bool { now.Add(-1); return false }}, nil
	})
}

const largeAnswer = 1 << 20

// Answers that are large beside their requests are made one after the other when there is no more room.
func TestLargeAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		m := inMemory(t, protocol.Limits{TotalPlainBytes: 4*largeAnswer + 1<<16}, charging(largeAnswer, &now, &most))
		var asking sync.WaitGroup
		for range 10 {
			client := m.dial(t)
			asking.Go(func() {
				client.send(metadataRequest())
				client.receive()
			})
		}
		leaves := m.dial(t)
		leaves.send(metadataRequest())
		leaves.conn.Close()
		asking.Wait()
		if most.Load() != 3 {
			t.Errorf("%d answers at a time, want 3", most.Load())
		}
	})
}

// An answer that finds no room while its client still waits ends the connection: whoever holds the room may never give it back.
func TestAnswersDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		m := inMemory(t, protocol.Limits{TotalPlainBytes: largeAnswer}, replyingWith(func(ctx context.Context, r *protocol.Request) (protocol.Reply, error) {
			err := r.Charge(ctx, largeAnswer)
			if err == nil {
				<-hung
			}
			return protocol.Reply{Message: metadataAnswer(r)}, err
		}))
		first, second := m.dial(t), m.dial(t)
		first.send(metadataRequest())
		synctest.Wait()
		second.send(metadataRequest())
		began := time.Now()
		if waited := (<-ended(second)).Sub(began); waited != 30*time.Second {
			t.Errorf("closed after %v, want 30s", waited)
		}
		close(hung)
		first.receive()
		third := m.dial(t)
		third.send(metadataRequest())
		third.receive()
	})
}

// replyingWith is replying for a reply that needs the context.
func replyingWith(reply func(ctx context.Context, r *protocol.Request) (protocol.Reply, error)) protocol.API {
	return protocol.API{Key: 3, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(ctx context.Context) (protocol.Reply, error) { return reply(ctx, r) }
	}}
}

// A client may read as slowly as it likes, but not a large answer while others wait for the room that it takes.
func TestSlowReadersMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		m := inMemory(t, protocol.Limits{TotalPlainBytes: 2*largeAnswer + 1<<16}, charging(largeAnswer, &now, &most))
		slow := m.dial(t)
		slow.send(metadataRequest())
		read := func(bytes int) error {
			_ = slow.conn.SetReadDeadline(time.Time{})
			_, err := io.ReadFull(slow.conn, make([]byte, bytes))
			return err
		}
		for range 20 {
			time.Sleep(10 * time.Second)
			if err := read(100); err != nil {
				t.Fatalf("a slow client whom nobody waits for: %v", err)
			}
		}
		began := time.Now()
		other := m.dial(t)
		other.send(metadataRequest())
		var trickle sync.WaitGroup
		defer trickle.Wait()
		trickle.Go(func() {
			for read(100) == nil {
				time.Sleep(500 * time.Millisecond)
			}
		})
		_ = other.conn.SetReadDeadline(time.Time{})
		if _, err := io.ReadFull(other.conn, make([]byte, largeAnswer)); err != nil {
			t.Errorf("a client that reads: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it waited %v for a slow one", took)
		}
	})
}
