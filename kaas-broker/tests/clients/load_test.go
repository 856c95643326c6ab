package clients

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// load is clients that keep a broker busy through whatever happens to it, and tell the ledger what they were answered.
type load struct {
	t       *testing.T
	address string
	topic   string
	ledger  *ledger
	clients sync.WaitGroup
	workers []*worker
}

// worker is one client of the load.
type worker struct {
	name     string
	progress atomic.Int64 // records acknowledged or read
	sent     int64        // by an idempotent producer; final when the load has ended
}

func newLoad(t *testing.T, address, topic string, ledger *ledger) *load {
	return &load{t: t, address: address, topic: topic, ledger: ledger}
}

func (l *load) add(name string) *worker {
	w := &worker{name: name}
	l.workers = append(l.workers, w)
	return w
}

// settle waits until each client has got through to the broker again.
func (l *load) settle(more int64) {
	l.t.Helper()
	for _, w := range l.workers {
		waitForProgress(l.t, w.name, &w.progress, more)
	}
}

func waitForProgress(t *testing.T, name string, counter *atomic.Int64, more int64) {
	t.Helper()
	target := counter.Load() + more
	for deadline := time.Now().Add(90 * time.Second); counter.Load() < target; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s is stuck at %d", name, counter.Load())
		}
	}
}

// Small batches and several of them on the way, so that each blow falls between an append and its answer.
func impatient(topic string, more ...kgo.Opt) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(1 << 10), kgo.MaxBufferedRecords(500),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }), kgo.DialTimeout(time.Second),
		kgo.RecordRetries(1 << 20), kgo.ProduceRequestTimeout(5 * time.Second), kgo.UnknownTopicRetries(-1), kgo.MetadataMinAge(50 * time.Millisecond),
	}, more...)
}

// produce sends numbered records to all partitions in turn until ctx ends, then waits for the answers. The sender is the index of the worker.
func (l *load) produce(ctx context.Context, name string, idempotent bool) *worker {
	w := l.add(name)
	sender := len(l.workers) - 1
	var options []kgo.Opt
	if !idempotent {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(3))
	}
	producer := newFranz(l.t, l.address, impatient(l.topic, options...)...)
	l.clients.Go(func() {
		for ctx.Err() == nil {
			s := stamp{sender: sender, number: w.sent}
			w.sent++
			r := &kgo.Record{Partition: int32(s.number % int64(len(l.ledger.entries))), Value: []byte(s.String())}
			producer.Produce(context.Background(), r, func(r *kgo.Record, err error) {
				if err != nil {
					l.t.Errorf("%s: record %v: %v", name, s, err)
					return
				}
				l.ledger.acknowledged(name, r.Partition, r.Offset, s)
				w.progress.Add(1)
			})
			if s.number%4 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		if err := producer.Flush(l.t.Context()); err != nil {
			l.t.Errorf("%s: %v", name, err)
		}
	})
	return w
}

// produceSarama sends one record after the other, each until it is acknowledged.
func (l *load) produceSarama(ctx context.Context) {
	w := l.add("sarama")
	sender := len(l.workers) - 1
	config := saramaConfig(sarama.DefaultVersion)
	// Sarama leaves a partition alone for ten seconds when it has three times in a row not found its leader. So it asks for as long as a start takes.
	config.Metadata.Retry.Backoff, config.Metadata.Retry.Max, config.Producer.Retry.Max = 20*time.Millisecond, 100, 0
	producer, err := sarama.NewSyncProducer([]string{l.address}, config)
	if err != nil {
		l.t.Fatal(err)
	}
	l.clients.Go(func() {
		defer producer.Close()
		for number := int64(0); ctx.Err() == nil; {
			s := stamp{sender: sender, number: number}
			message := &sarama.ProducerMessage{Topic: l.topic, Partition: int32(number % int64(len(l.ledger.entries))), Value: sarama.StringEncoder(s.String())}
			partition, offset, err := producer.SendMessage(message)
			if err != nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			l.ledger.acknowledged("sarama", partition, offset, s)
			w.progress.Add(1)
			number++
		}
	})
}

// consume reads everything as it comes, and remembers it. Neither what it has read nor the watermark it has seen is ever taken back.
func (l *load) consume(ctx context.Context, name string) {
	w := l.add(name)
	starts := map[int32]kgo.Offset{}
	for partition := range l.ledger.entries {
		starts[int32(partition)] = kgo.NewOffset().AtStart()
	}
	consumer := newFranz(l.t, l.address, impatient(l.topic, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{l.topic: starts}),
		kgo.FetchMaxWait(200*time.Millisecond), kgo.ConsumeResetOffset(kgo.NoResetOffset()))...)
	l.clients.Go(func() {
		defer consumer.Close()
		watermarks := make([]int64, len(l.ledger.entries))
		for ctx.Err() == nil {
			fetches := consumer.PollFetches(ctx)
			fetches.EachPartition(func(p kgo.FetchTopicPartition) { l.read(w, watermarks, p) })
		}
	})
}

func (l *load) read(w *worker, watermarks []int64, p kgo.FetchTopicPartition) {
	var loss *kgo.ErrDataLoss
	if errors.As(p.Err, &loss) || errors.Is(p.Err, kerr.OffsetOutOfRange) {
		l.t.Errorf("%s: partition %d: %v", w.name, p.Partition, p.Err)
	}
	if p.Err == nil {
		if p.HighWatermark < watermarks[p.Partition] {
			l.t.Errorf("%s: the watermark of partition %d went back from %d to %d", w.name, p.Partition, watermarks[p.Partition], p.HighWatermark)
		}
		watermarks[p.Partition] = p.HighWatermark
	}
	for _, r := range p.Records {
		s, err := parseStamp(r.Value)
		if err != nil {
			l.t.Errorf("%s: partition %d offset %d: %q", w.name, p.Partition, r.Offset, r.Value)
			continue
		}
		l.ledger.note(w.name, p.Partition, r.Offset, s)
	}
	w.progress.Add(int64(len(p.Records)))
}
