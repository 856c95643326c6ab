package protocol_test

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

func TestHandlerThatFailsCostsItsConnectionOnly(t *testing.T) {
	starting := protocol.API{Key: 3, Start: func(context.Context, *protocol.Request) protocol.FinishFunc { panic("start") }}
	nothing := protocol.API{Key: 3, Start: func(context.Context, *protocol.Request) protocol.FinishFunc { return nil }}
	cases := map[string]struct {
		api    protocol.API
		panics int64
		log    string
	}{
		"panic in Start":    {starting, 1, "handler panicked"},
		"panic in the rest": {replying(func(*protocol.Request) (protocol.Reply, error) { panic("finish") }), 1, "handler panicked"},
		"panic in what is left to do": {replying(func(*protocol.Request) (protocol.Reply, error) {
			return protocol.Reply{Settle: func() bool { panic("settle") }}, nil
		}), 1, "handler panicked"},
		"an error": {replying(func(*protocol.Request) (protocol.Reply, error) {
			return protocol.Reply{}, errors.New("no answer today")
		}), 0, "no answer today"},
		"nothing to finish": {nothing, 0, "nothing to finish"},
		"a response of another version": {replying(func(r *protocol.Request) (protocol.Reply, error) {
			response := metadataAnswer(r)
			response.Version = 1
			return protocol.Reply{Message: response}, nil
		}), 0, "response of key 3 version 1"},
		"a response of another key": {replying(func(*protocol.Request) (protocol.Reply, error) {
			return protocol.Reply{Message: kmsg.NewPtrListOffsetsResponse()}, nil
		}), 0, "response of key 2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			logged, counted := newLog(), newCounts()
			server := serve(t, protocol.Config{APIs: []protocol.API{c.api, produce(nil)}, Logger: logged.logger(), MeterProvider: counted})
			healthy, broken := dial(t, server), dial(t, server)
			call[*kmsg.ProduceResponse](healthy, produceRequest(-1, 10))
			broken.send(metadataRequest())
			broken.closed()
			call[*kmsg.ProduceResponse](healthy, produceRequest(-1, 10))
			server.Close()
			if got := counted.sum("kaas.request.panics", "Metadata"); got != c.panics {
				t.Errorf("%d panics counted, want %d", got, c.panics)
			}
			if logged.count(c.log) == 0 {
				t.Errorf("nothing logged about %q", c.log)
			}
		})
	}
}

func TestRequestsStartedBeforeAPanicAreFinished(t *testing.T) {
	fetches := newParked()
	starting := protocol.API{Key: 0, Pipelined: true, Start: func(context.Context, *protocol.Request) protocol.FinishFunc { panic("start") }}
	server := serve(t, protocol.Config{APIs: []protocol.API{fetches.api(), starting}})
	client := dial(t, server)
	for range 3 {
		client.send(fetchRequest())
		within(t, "start", fetches.started)
	}
	client.send(produceRequest(-1, 10))
	for range 3 {
		within(t, "the context of a parked fetch ends", fetches.canceled)
	}
	client.closed()
}
