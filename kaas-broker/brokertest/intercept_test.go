package brokertest_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
)

const (
	keyProduce  int16 = 0
	keyMetadata int16 = 3
)

func TestFailEndsAfterItsRequests(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker)
	refused := broker.Intercept(keyProduce, 2, brokertest.Fail(kerr.NotEnoughReplicas.Code))
	for i, want := range []int16{kerr.NotEnoughReplicas.Code, kerr.NotEnoughReplicas.Code, 0} {
		if code := produceOnce(t, client, "orders"); code != want {
			t.Errorf("request %d answered %v, want %v", i+1, kerr.ErrorForCode(code), kerr.ErrorForCode(want))
		}
	}
	if refused.Hits() != 2 {
		t.Errorf("%d hits, want 2", refused.Hits())
	}
	if end := latest(t, client, "orders"); end != 1 {
		t.Errorf("the log ends at %d: a refused request was handled", end)
	}
}

func TestInterceptionCanBeStopped(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker)
	always := broker.Intercept(keyProduce, -1, brokertest.Fail(kerr.RequestTimedOut.Code))
	for range 3 {
		if code := produceOnce(t, client, "orders"); code != kerr.RequestTimedOut.Code {
			t.Fatalf("answered %v", kerr.ErrorForCode(code))
		}
	}
	always.Stop()
	if code := produceOnce(t, client, "orders"); code != 0 {
		t.Errorf("answered %v", kerr.ErrorForCode(code))
	}
}

// The answer to the first request is lost on its way. An idempotent producer's second attempt is recognized; another one's is stored again.
func TestLostAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		options []kgo.Opt
		want    int64
	}{
		"idempotent producer": {nil, 1},
		"other producer":      {[]kgo.Opt{kgo.DisableIdempotentWrite()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			broker := brokertest.Start(t)
			broker.CreateTopic("orders", 1, nil)
			client := newClient(t, broker, test.options...)
			lost := broker.Intercept(keyProduce, 1, brokertest.DropAnswer())
			produce(t, client, "orders", "x")
			if end := latest(t, client, "orders"); end != test.want || lost.Hits() != 1 {
				t.Errorf("%d records after %d lost answers, want %d", end, lost.Hits(), test.want)
			}
		})
	}
}

func TestDropLosesTheRequest(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker, kgo.DisableIdempotentWrite())
	dropped := broker.Intercept(brokertest.AnyKey, 3, brokertest.Drop())
	produce(t, client, "orders", "x")
	if end := latest(t, client, "orders"); end != 1 || dropped.Hits() != 3 {
		t.Errorf("%d records after %d dropped requests, want 1 and 3", end, dropped.Hits())
	}
}

func TestDelayHoldsTheAnswerBack(t *testing.T) {
	const by = 150 * time.Millisecond
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker)
	produce(t, client, "orders", "warm")
	broker.Intercept(keyProduce, 1, brokertest.Delay(by))
	began := time.Now()
	produce(t, client, "orders", "late")
	if took := time.Since(began); took < by {
		t.Errorf("answered after %v, want %v or more", took, by)
	}
}

func TestDelayEndsWithTheBroker(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	delayed := broker.Intercept(keyProduce, 1, brokertest.Delay(time.Hour))
	client := newClient(t, broker)
	seed := client.SeedBrokers()[0]
	answered := make(chan error, 1)
	ctx, request := within(t), produceRequest(t, "orders", "x")
	go func() {
		_, err := seed.Request(ctx, request)
		answered <- err
	}()
	for delayed.Hits() == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	broker.Stop()
	if err := <-answered; err != nil {
		t.Errorf("the request under way: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("stopped after %v", took)
	}
}

// A refused fetch is no end for a consumer, whatever version of the request it speaks.
func TestConsumerOutlivesRefusedFetches(t *testing.T) {
	const keyFetch = 1
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	produce(t, newClient(t, broker), "orders", "x")
	refused := broker.Intercept(keyFetch, 2, brokertest.Fail(kerr.NotLeaderForPartition.Code))
	if got := consume(t, broker, "orders", 1); got[0] != "x" || refused.Hits() != 2 {
		t.Errorf("read %q after %d refusals", got, refused.Hits())
	}
}
