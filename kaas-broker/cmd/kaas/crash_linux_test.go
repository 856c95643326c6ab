package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// An idempotent producer keeps sending through ten kills: each record is there once, in order.
func TestIdempotentProducerThroughKills(t *testing.T) {
	t.Parallel()
	const kills, between = 10, 200
	dir := t.TempDir()
	listeners := "PLAINTEXT://" + lowAddress(t)
	p := start(t, "--data-dir", dir, "--listeners", listeners)
	producer := newClient(t, p.address, kgo.DefaultProduceTopic("orders"), kgo.MaxBufferedRecords(200), kgo.ProducerBatchMaxBytes(1000),
		kgo.UnknownTopicRetries(-1))
	produce(t, producer, "orders", "0")
	sending, stop := context.WithCancel(within(t))
	var acknowledged atomic.Int64
	progress := make(chan struct{}, 1)
	sent := make(chan int)
	go func() {
		next := 1
		for ; sending.Err() == nil; next++ {
			producer.Produce(context.WithoutCancel(sending), kgo.StringRecord(strconv.Itoa(next)), func(r *kgo.Record, err error) {
				if err != nil {
					t.Errorf("record %s: %v", r.Value, err)
				}
				acknowledged.Add(1)
				select {
				case progress <- struct{}{}:
				default:
				}
			})
		}
		sent <- next
	}()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range kills {
		for target := acknowledged.Load() + between + random.Int64N(between); acknowledged.Load() < target; {
			select {
			case <-progress:
			case <-time.After(patience):
				t.Fatalf("stuck after %d records", acknowledged.Load())
			}
		}
		p.kill(t)
		p = start(t, "--data-dir", dir, "--listeners", listeners)
	}
	stop()
	count := <-sent
	if err := producer.Flush(within(t)); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, p.address, "orders"); !slices.Equal(got, numbers(0, count)) {
		t.Errorf("%d records were sent, these were read: %q", count, got)
	}
}
