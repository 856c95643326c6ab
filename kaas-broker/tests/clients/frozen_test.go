package clients

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// A broker freezes, another one takes its directory, and the first thaws with requests on its way: with those that it had taken in, and those that
// arrived while it was frozen. Whatever it answers then must be true: each broker's own clients remember it, and the log is judged by what they say.
func TestFrozenBrokersAcknowledgeNothing(t *testing.T) {
	harness.NeedKaas(t)
	const partitions = 2
	first := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, first.Bootstrap(), topic, partitions)
	ledger := newLedger(t, partitions)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	clients := attend(t, first, topic, ledger, 0)
	for round := range harness.Rounds(30, 300) {
		clients.settle()
		first.Freeze(t)
		// Sometimes it thaws while the second is still taking over.
		thawed := make(chan struct{})
		early := random.IntN(2) == 0
		if early {
			delay := time.Duration(random.IntN(60)) * time.Millisecond
			go func() {
				defer close(thawed)
				time.Sleep(delay)
				first.Thaw(t)
			}()
		}
		second := harness.Start(t, harness.Options{Dir: first.Dir()})
		next := attend(t, second, topic, ledger, round+1)
		if early {
			<-thawed
		} else {
			next.settle()
			first.Thaw(t)
		}
		if status := first.WaitLeft(t, 30*time.Second); status == 0 {
			t.Errorf("round %d: the first broker left with status 0", round)
		}
		clients.leave()
		first, clients = second, next
		if t.Failed() {
			break
		}
	}
	clients.settle()
	clients.leave()
	ledger.judge(first.Bootstrap(), topic)
	t.Logf("%d acknowledgements", ledger.acknowledgements())
}

// attendants are the clients of one broker, which stay with it to its end.
type attendants struct {
	load *load
	stop context.CancelFunc
	done sync.WaitGroup
}

// attend gives a broker clients of its own.
func attend(t *testing.T, broker *harness.Broker, topic string, ledger *ledger, round int) *attendants {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	a := &attendants{load: newLoad(t, broker.Bootstrap(), topic, ledger), stop: stop}
	a.send(ctx, stamp{sender: 2 * round}, kgo.DisableIdempotentWrite())
	a.send(ctx, stamp{sender: 2*round + 1})
	a.load.consume(ctx, "consumer")
	return a
}

// send is a producer whose records may fail: their broker is going to be deposed.
func (a *attendants) send(ctx context.Context, s stamp, options ...kgo.Opt) {
	w := a.load.add("producer")
	producer := newFranz(a.load.t, a.load.address, impatient(a.load.topic, append(options, kgo.RecordRetries(1))...)...)
	a.done.Go(func() {
		defer producer.Close()
		for ; ctx.Err() == nil; s.number++ {
			sent := s
			r := &kgo.Record{Partition: int32(s.number % int64(len(a.load.ledger.entries))), Value: []byte(s.String())}
			producer.TryProduce(ctx, r, func(r *kgo.Record, err error) {
				if err == nil {
					a.load.ledger.acknowledged(w.name, r.Partition, r.Offset, sent)
					w.progress.Add(1)
				}
			})
			time.Sleep(200 * time.Microsecond)
		}
	})
}

func (a *attendants) settle() {
	a.load.t.Helper()
	a.load.settle(20)
}

func (a *attendants) leave() {
	a.stop()
	a.done.Wait()
	a.load.clients.Wait()
}
