package protocol_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestAnnouncedBytesAreNotAllocated(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata()}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 5 {
		client := dial(t, server)
		client.write(binary.BigEndian.AppendUint32(nil, 100<<20))
		client.write(make([]byte, 1000))
	}
	time.Sleep(50 * time.Millisecond)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 5<<20 {
		t.Errorf("%d bytes allocated for five frames of which 1,000 bytes each have come", grown)
	}
}

func TestGarbageDoesNotDisturbOthers(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata(), produce(nil)}})
	healthy := dial(t, server)
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	source := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		message := frame(metadataRequest(), 1)
		if source.IntN(2) == 0 {
			message = frame(produceRequest(-1, 50), 1)
		}
		for range 1 + source.IntN(4) {
			// The size prefix stays, so that the damage gets past it.
			message[4+source.IntN(len(message)-4)] = byte(source.Uint32())
		}
		client := dial(t, server)
		_, _ = client.conn.Write(message)
		client.conn.Close()
	}
	call[*kmsg.MetadataResponse](healthy, metadataRequest())
}

func TestRequestInPieces(t *testing.T) {
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{metadata()}}))
	message := frame(metadataRequest(), 3)
	for i := range message {
		client.write(message[i : i+1])
	}
	if got, _ := client.receive(); got != 3 {
		t.Fatalf("response %d, want 3", got)
	}
}

func TestWrongProtocolIsNamedInTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"HTTP": {[]byte("GET / HTTP/1.1\r\n\r\n"), "an HTTP client?"},
		"TLS":  {[]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, "a TLS client on a plaintext listener?"},
	} {
		t.Run(name, func(t *testing.T) {
			logged := newLog()
			server := serve(t, protocol.Config{Logger: logged.logger()})
			client := dial(t, server)
			client.write(c.bytes)
			client.closed()
			server.Close()
			if logged.count(c.want) != 1 {
				t.Errorf("nothing about %q", c.want)
			}
		})
	}
}

// What a client announces and does not send takes no room from others.
func TestAnnouncedBytesKeepNobodyOut(t *testing.T) {
	limit := 4 << 20
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{produce(nil)},
		Limits: protocol.Limits{TotalInFlightBytes: int64(limit), MaxRequestBytes: limit},
	})
	for range 10 {
		dial(t, server).write(binary.BigEndian.AppendUint32(nil, uint32(limit)))
	}
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	call[*kmsg.ProduceResponse](dial(t, server), produceRequest(-1, 1<<20))
	if took := time.Since(began); took > time.Second {
		t.Errorf("a request of 1 MiB took %v beside requests that never come", took)
	}
}

// Clients that stop in the middle of what they have announced are given up when others need the room.
func TestStalledBodiesAreGivenUpForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := 4 << 20
		m := inMemory(t, protocol.Limits{TotalInFlightBytes: int64(limit), MaxRequestBytes: limit}, produce(nil))
		for range 5 { // the fifth waits for room that the others hold
			c := m.dial(t)
			c.write(binary.BigEndian.AppendUint32(nil, 1<<20))
			c.write(make([]byte, 100<<10))
		}
		began := time.Now()
		call[*kmsg.ProduceResponse](m.dial(t), produceRequest(-1, 1<<20))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("a request of 1 MiB took %v beside requests that have stopped arriving", took)
		}
	})
}

// Only Produce may be as large as the limit for all: other requests become many times larger in memory.
func TestLargeRequestsWithoutRecordsAreRefused(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{metadata(), produce(nil)}})
	call[*kmsg.ProduceResponse](dial(t, server), produceRequest(-1, 17<<20))
	topics := func(bytes int) *kmsg.MetadataRequest {
		request := metadataRequest()
		for range bytes / 32 {
			request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr("a topic with thirty characters")})
		}
		return request
	}
	call[*kmsg.MetadataResponse](dial(t, server), topics(4<<20))
	client := dial(t, server)
	_, _ = client.conn.Write(frame(topics(18<<20), 1))
	client.closed()
}

// What is decoded counts with more than its bytes: two such requests do not fit the total, so one waits for the other.
func TestDecodedRequestsAreBounded(t *testing.T) {
	var running, most atomic.Int32
	slow := replying(func(r *protocol.Request) (protocol.Reply, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		return protocol.Reply{Message: r.Message.ResponseKind()}, nil
	})
	server := serve(t, protocol.Config{APIs: []protocol.API{slow}, Limits: protocol.Limits{TotalPlainBytes: 16 << 20, MaxRequestBytes: 16 << 20}})
	request := metadataRequest()
	for range 20_000 {
		request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr("a topic with thirty characters")})
	}
	var clients sync.WaitGroup
	for range 6 {
		client := dial(t, server)
		clients.Go(func() { call[*kmsg.MetadataResponse](client, request) })
	}
	clients.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests of 600 KiB were worked on at once within 16 MiB, want 1", most.Load())
	}
}

// Requests that wait for other clients give back all that they are charged for when they are forgotten: else few of them would keep everybody out, those that
// they wait for among them.
func TestForgottenRequestsMakeRoom(t *testing.T) {
	const clients = 40 // whose frames alone are more than the limit
	var running atomic.Int32
	met := make(chan struct{})
	meeting := replying(func(r *protocol.Request) (protocol.Reply, error) {
		answer := r.Message.ResponseKind()
		r.Forget()
		if running.Add(1) == clients {
			close(met)
		}
		select {
		case <-met:
		case <-time.After(10 * time.Second):
			t.Errorf("%d of %d requests are worked on at once", running.Load(), clients)
		}
		return protocol.Reply{Message: answer}, nil
	})
	server := serve(t, protocol.Config{APIs: []protocol.API{meeting}, Limits: protocol.Limits{TotalPlainBytes: 20 << 20, MaxRequestBytes: 16 << 20}})
	request := metadataRequest()
	for range 20_000 {
		request.Topics = append(request.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr("a topic with thirty characters")})
	}
	var asking sync.WaitGroup
	for range clients {
		client := dial(t, server)
		asking.Go(func() { call[*kmsg.MetadataResponse](client, request) })
	}
	asking.Wait()
}

// Large requests that wait for their answers keep no producer out.
func TestParkedRequestsKeepNoProducerOut(t *testing.T) {
	limit := 4 << 20
	park := newParked()
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{park.api(), produce(nil)},
		Limits: protocol.Limits{TotalInFlightBytes: int64(limit), TotalPlainBytes: int64(limit), MaxRequestBytes: limit},
	})
	wide := fetchRequest()
	for range 60_000 {
		wide.Topics = append(wide.Topics, kmsg.FetchRequestTopic{Topic: "a topic"})
	}
	for range 10 {
		client := dial(t, server)
		go func() { _, _ = client.conn.Write(frame(wide, 1)) }() // some have to wait for room
	}
	for range 3 {
		<-park.started
	}
	began := time.Now()
	call[*kmsg.ProduceResponse](dial(t, server), produceRequest(-1, 1<<20))
	if took := time.Since(began); took > time.Second {
		t.Errorf("a request of 1 MiB took %v beside parked ones", took)
	}
}

// A client that has left counts until what it has sent is settled: else any number of such could wait for a slow disk.
func TestClientsThatHaveLeftCountUntilTheySettle(t *testing.T) {
	const limit = 4 << 20
	var starts, settled atomic.Int32
	left, written := make(chan struct{}), make(chan struct{})
	slow := protocol.API{Key: 0, Pipelined: true, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		if starts.Add(1) == 2 {
			if settled.Load() == 0 {
				t.Error("a second request is let in beside the bytes of the first")
			}
			return func(context.Context) (protocol.Reply, error) {
				return protocol.Reply{Message: r.Message.ResponseKind()}, nil
			}
		}
		return func(ctx context.Context) (protocol.Reply, error) {
			<-ctx.Done()
			close(left)
			return protocol.Reply{Settle: func() bool {
				<-written
				settled.Add(1)
				return true
			}}, ctx.Err()
		}
	}}
	server := serve(t, protocol.Config{APIs: []protocol.API{slow}, Limits: protocol.Limits{TotalInFlightBytes: limit, MaxRequestBytes: limit}})
	leaving := dial(t, server)
	_, _ = leaving.conn.Write(frame(produceRequest(-1, limit*3/4), 1))
	_ = leaving.conn.Close()
	<-left
	next := dial(t, server)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		call[*kmsg.ProduceResponse](next, produceRequest(-1, limit*3/4))
	}()
	select {
	case <-answered:
	case <-time.After(100 * time.Millisecond): // long enough for a request that nothing keeps waiting
	}
	close(written)
	<-answered
}
