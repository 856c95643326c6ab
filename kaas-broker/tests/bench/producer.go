package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// How the real client is tuned, for every contestant alike.
const (
	batchBytes      = 1_000_000
	inFlight        = 5
	bufferedRecords = 16 << 10
	bulkLinger      = 5 * time.Millisecond
)

// producerOptions are for a client that waits for all acknowledgments and chooses partitions itself.
func producerOptions(address string, idempotent bool, linger time.Duration) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(address),
		kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.ProducerLinger(linger),
		kgo.MaxBufferedRecords(bufferedRecords),
	}
	if !idempotent {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(inFlight))
	}
	return options
}

// newProducer returns a client that has sent one record to the partition already, so that its connections and metadata are there.
func newProducer(ctx context.Context, options []kgo.Opt, records *slab) (*kgo.Client, error) {
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	if err := client.ProduceSync(ctx, records.next()).FirstErr(); err != nil {
		client.Close()
		return nil, fmt.Errorf("first record to %s-%d: %w", records.topic, records.partition, err)
	}
	return client, nil
}

// newTopic makes a topic of one partition on the shared broker, and a client that sends it one record after the other without delay.
func (l *lap) newTopic(ctx context.Context, topic string) (*kgo.Client, *slab, error) {
	if err := l.server.createTopic(ctx, topic, 1); err != nil {
		return nil, nil, err
	}
	records := &slab{topic: topic, values: l.values}
	client, err := newProducer(ctx, producerOptions(l.server.address, false, 0), records)
	return client, records, err
}

// bulk is a number of producers that each fill a partition of their own.
type bulk struct {
	topic      string
	producers  int
	bytes      int64 // over all producers
	idempotent bool
}

// produce returns the time from the first record until the last acknowledgment, without the time to connect.
func (b bulk) produce(ctx context.Context, address string, values payloads) (time.Duration, error) {
	clients, records, err := b.connect(ctx, address, values)
	defer func() {
		for _, client := range clients {
			client.Close()
		}
	}()
	if err != nil {
		return 0, err
	}
	count := int(b.bytes / recordSize / int64(b.producers))
	failures := make([]error, b.producers)
	began := time.Now()
	var producers sync.WaitGroup
	for i, client := range clients {
		producers.Go(func() { failures[i] = fill(ctx, client, records[i], count) })
	}
	producers.Wait()
	took := time.Since(began)
	for _, err := range failures {
		if err != nil {
			return 0, fmt.Errorf("produce to %s: %w", b.topic, err)
		}
	}
	return took, nil
}

func (b bulk) connect(ctx context.Context, address string, values payloads) (clients []*kgo.Client, records []*slab, err error) {
	for i := range b.producers {
		slab := &slab{topic: b.topic, partition: int32(i), values: values, given: i}
		client, err := newProducer(ctx, producerOptions(address, b.idempotent, bulkLinger), slab)
		if err != nil {
			return clients, nil, err
		}
		clients, records = append(clients, client), append(records, slab)
	}
	return clients, records, nil
}

// fill produces as fast as the client accepts records, and returns the first error of any.
func fill(ctx context.Context, client *kgo.Client, records *slab, count int) error {
	var once sync.Once
	var failure error
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			once.Do(func() { failure = err })
		}
	}
	for range count {
		client.Produce(ctx, records.next(), promise)
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	return failure
}
