package hostile

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// beside is a normal producer and a normal consumer that run beside an attack.
type beside struct {
	topic    string
	producer *kgo.Client
	consumer *kgo.Client
	stop     context.CancelFunc
	ended    chan struct{}
	consumed chan struct{}
	sent     atomic.Int64
	received atomic.Int64
	slowest  atomic.Int64 // nanoseconds of one produce
	failure  atomic.Pointer[string]
}

const (
	besideRecord = 100 << 10
	besidePause  = 100 * time.Millisecond
	// besidePatience is how long one record of the normal producer may take: the machine is small and the attack takes its share.
	besidePatience = 8 * time.Second
)

// runBeside starts the normal clients. When the test ends every record must have arrived, once and in order, none slower than besidePatience.
func runBeside(t *testing.T, address string) *beside {
	t.Helper()
	b := &beside{topic: fmt.Sprintf("beside-%d", time.Now().UnixNano()), ended: make(chan struct{}), consumed: make(chan struct{})}
	createTopic(t, address, b.topic, 1)
	b.producer = newClient(t, address, kgo.DefaultProduceTopic(b.topic), kgo.ProducerLinger(0), kgo.RecordDeliveryTimeout(10*besidePatience),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	b.consumer = newClient(t, address, kgo.ConsumeTopics(b.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	go b.consume(ctx)
	go b.produce(ctx)
	t.Cleanup(func() { b.check(t) })
	return b
}

func (b *beside) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.failure.CompareAndSwap(nil, &text)
}

// produce sends one record after the other: none of more than 64 KiB is let in without a look at what others hold.
func (b *beside) produce(ctx context.Context) {
	defer close(b.ended)
	value := make([]byte, besideRecord)
	for number := int64(0); ctx.Err() == nil; number++ {
		copy(value, fmt.Sprintf("%020d", number))
		began := time.Now()
		if err := b.producer.ProduceSync(context.Background(), &kgo.Record{Value: value}).FirstErr(); err != nil {
			b.fail("record %d: %v", number, err)
			return
		}
		b.slowest.Store(max(b.slowest.Load(), int64(time.Since(began))))
		b.sent.Add(1)
		time.Sleep(besidePause)
	}
}

// consume reads until it has everything that was acknowledged before the producer stopped.
func (b *beside) consume(stopped context.Context) {
	defer close(b.consumed)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(stopped, func() {
		<-b.ended
		time.AfterFunc(besidePatience, cancel)
	})
	for !b.complete() && ctx.Err() == nil {
		short, end := context.WithTimeout(ctx, time.Second)
		fetches := b.consumer.PollFetches(short)
		end()
		if err := fetches.Err0(); err != nil && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			b.fail("consumer: %v", err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if want := fmt.Sprintf("%020d", b.received.Load()); string(r.Value[:20]) != want {
				b.fail("record %s where %s was expected", r.Value[:20], want)
			}
			b.received.Add(1)
		})
	}
}

func (b *beside) complete() bool {
	select {
	case <-b.ended:
		return b.received.Load() == b.sent.Load()
	default:
		return false
	}
}

func (b *beside) check(t *testing.T) {
	t.Helper()
	b.stop()
	<-b.ended
	<-b.consumed
	slowest := time.Duration(b.slowest.Load())
	t.Logf("beside: %d records, the slowest took %v", b.sent.Load(), slowest.Round(time.Millisecond))
	if text := b.failure.Load(); text != nil {
		t.Errorf("the normal clients: %s", *text)
	}
	if sent, received := b.sent.Load(), b.received.Load(); sent != received || sent == 0 {
		t.Errorf("%d records were acknowledged and %d consumed", sent, received)
	}
	if slowest > besidePatience {
		t.Errorf("a record of the normal producer took %v", slowest)
	}
	b.producer.Close()
	b.consumer.Close()
}
