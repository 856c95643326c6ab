package protocol_test

import (
	"context"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestResponsesLeaveInRequestOrder(t *testing.T) {
	fetches, produced := newParked(), make(chan int32, 10)
	metadataStarted := make(chan struct{}, 1)
	describing := metadata()
	describing.Start = func(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
		metadataStarted <- struct{}{}
		return metadata().Start(ctx, r)
	}
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), produce(produced), describing}}))

	fetch := client.send(fetchRequest())
	write := client.send(produceRequest(-1, 100))
	quiet := client.send(produceRequest(0, 100))
	describe := client.send(metadataRequest())
	last := client.send(produceRequest(-1, 100))

	within(t, "fetch starts", fetches.started)
	if got := within(t, "produce starts behind a parked fetch", produced); got != write {
		t.Fatalf("request %d started, want %d", got, write)
	}
	if got := within(t, "acks=0 starts behind a parked fetch", produced); got != quiet {
		t.Fatalf("request %d started, want %d", got, quiet)
	}
	never(t, "Metadata started while earlier requests were unanswered", metadataStarted)
	never(t, "Produce started while an earlier Metadata was unanswered", produced)
	fetches.let <- protocol.Reply{}
	for _, want := range []int32{fetch, write, describe, last} {
		if got, _ := client.receive(); got != want {
			t.Fatalf("response %d, want %d", got, want)
		}
	}
}

func TestPipelinedRequestWaitsForOneThatIsNot(t *testing.T) {
	produced, begun, end := make(chan int32, 1), make(chan struct{}), make(chan struct{})
	slow := replying(func(r *protocol.Request) (protocol.Reply, error) {
		close(begun)
		<-end
		return protocol.Reply{Message: metadataAnswer(r)}, nil
	})
	client := dial(t, serve(t, protocol.Config{APIs: []protocol.API{slow, produce(produced)}}))
	client.send(metadataRequest())
	within(t, "Metadata", begun)
	client.send(produceRequest(-1, 10))
	never(t, "Produce started while an earlier Metadata was unanswered", produced)
	close(end)
	within(t, "Produce", produced)
}

func TestAcksZeroSendsNothing(t *testing.T) {
	server := serve(t, protocol.Config{APIs: []protocol.API{produce(nil), metadata()}})
	client := dial(t, server)
	client.send(produceRequest(0, 1000))
	want := client.send(metadataRequest())
	if got, _ := client.receive(); got != want {
		t.Fatalf("response %d, want %d: nothing for acks=0", got, want)
	}
}

func TestInFlightRequestsAreBounded(t *testing.T) {
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api()}, Limits: protocol.Limits{InFlightRequests: 3}})
	client := dial(t, server)
	for range 5 {
		client.send(fetchRequest())
	}
	for range 3 {
		within(t, "start", fetches.started)
	}
	never(t, "a fourth request started with three in flight allowed", fetches.started)
	fetches.let <- protocol.Reply{}
	within(t, "start after an answer", fetches.started)
}

func TestInFlightBytesOfAConnection(t *testing.T) {
	produced := make(chan int32, 10)
	fetches := newParked()
	server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), produce(produced)}, Limits: protocol.Limits{InFlightBytes: 10_000}})
	client := dial(t, server)

	// Larger than the bound, but alone.
	client.send(produceRequest(-1, 50_000))
	within(t, "the only request always fits", produced)
	client.receive()

	client.send(fetchRequest())
	within(t, "fetch", fetches.started)
	client.send(produceRequest(-1, 5_000))
	within(t, "a request that fits beside", produced)
	client.send(produceRequest(-1, 9_000))
	never(t, "14,000 bytes in flight with 10,000 allowed", produced)
	fetches.let <- protocol.Reply{}
	within(t, "a request that fits now", produced)
}

func TestInFlightBytesOfAllConnections(t *testing.T) {
	produced := make(chan int32, 10)
	fetches := newParked()
	const limit = 300_000
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{fetches.api(), produce(produced), metadata()},
		Limits: protocol.Limits{TotalInFlightBytes: limit, MaxRequestBytes: limit},
	})
	holder, other, small := dial(t, server), dial(t, server), dial(t, server)

	holder.send(fetchRequest())
	within(t, "fetch", fetches.started)
	holder.send(produceRequest(-1, 250_000))
	within(t, "first large request", produced)
	other.send(produceRequest(-1, 250_000))
	never(t, "500,000 bytes in flight with 300,000 allowed", produced)
	small.send(metadataRequest())
	small.receive() // the only, small request of a connection fits in any case
	fetches.let <- protocol.Reply{}
	within(t, "second large request", produced)
	other.receive()
}

// A Produce request above the limit for all is served, alone: requests of other kinds that wait for long are not in its way.
func TestRequestAboveTheLimitOfAllConnections(t *testing.T) {
	produced := make(chan int32, 10)
	fetches := newParked()
	const limit = 300_000
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{fetches.api(), produce(produced)},
		Limits: protocol.Limits{TotalInFlightBytes: limit},
	})
	holder := dial(t, server)
	holder.send(fetchRequest())
	within(t, "fetch", fetches.started)
	for range 3 {
		client := dial(t, server)
		go func() { _, _ = client.conn.Write(frame(produceRequest(-1, 10*limit), 1)) }()
	}
	for range 3 {
		within(t, "a request of ten times the limit", produced)
	}
	fetches.let <- protocol.Reply{}
	holder.receive()
}

func TestRefusedRequestsGiveTheirBytesBack(t *testing.T) {
	const limit = 300_000
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{produce(nil)},
		Limits: protocol.Limits{TotalInFlightBytes: limit, MaxRequestBytes: limit},
	})
	for range 3 {
		client := dial(t, server)
		refused := frame(produceRequest(-1, 250_000), 1)
		refused[5] = 99 // the key
		client.write(refused)
		client.closed()
		client.conn.Close()
		half := dial(t, server)
		half.write(frame(produceRequest(-1, 250_000), 1)[:100_000])
		half.conn.Close()
	}
	client := dial(t, server)
	client.send(produceRequest(-1, 250_000))
	client.receive()
}

func TestDrainEndsAWaitForRoom(t *testing.T) {
	const limit = 300_000
	fetches, produced := newParked(), make(chan int32, 10)
	server := serve(t, protocol.Config{
		APIs:   []protocol.API{fetches.api(), produce(produced)},
		Limits: protocol.Limits{TotalInFlightBytes: limit, MaxRequestBytes: limit},
	})
	holder, waiting := dial(t, server), dial(t, server)
	holder.send(fetchRequest())
	within(t, "fetch", fetches.started)
	holder.send(produceRequest(-1, 250_000))
	within(t, "first large request", produced)
	waiting.write(frame(produceRequest(-1, 250_000), 1)[:1000])
	time.Sleep(20 * time.Millisecond)
	down := make(chan error, 1)
	go func() { down <- server.Shutdown(t.Context()) }()
	waiting.closed()
	fetches.let <- protocol.Reply{}
	holder.receive()
	holder.receive()
	holder.conn.Close()
	waiting.conn.Close()
	if err := within(t, "shutdown", down); err != nil {
		t.Error(err)
	}
}
