package clients

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const crashPartitions = 4

// kills is how often the broker dies: ten times, or fifty in the long run.
func kills() int {
	if testing.Short() {
		return 10
	}
	return 50
}

// An idempotent producer keeps sending while its broker is killed ten times or more. In the end each record is there once, in the order of sending:
// what the broker knows about the producer's sequence has to survive as the records do.
func TestIdempotentProducerOutlivesKills(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, crashPartitions)

	// Small batches and several of them on the way, so that each kill cuts some off between append and answer.
	producer := newFranz(t, broker.Bootstrap(), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(2<<10), kgo.MaxBufferedRecords(2000), kgo.RetryBackoffFn(func(int) time.Duration { return 50 * time.Millisecond }),
		kgo.RecordRetries(1<<20), kgo.ProduceRequestTimeout(5*time.Second), kgo.UnknownTopicRetries(-1))
	sending, stop := context.WithCancel(t.Context())
	defer stop()
	var acknowledged, failed atomic.Int64
	sent := make(chan int64)
	go func() { sent <- sendUntil(sending, t, producer, &acknowledged, &failed) }()

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for kill := range kills() {
		waitForProgress(t, &acknowledged, 200)
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		broker.Kill(t)
		t.Logf("kill %d after %d acknowledgements", kill+1, acknowledged.Load())
		broker.Resume(t)
	}
	waitForProgress(t, &acknowledged, 200)
	stop()
	count := <-sent
	if err := producer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed.Load() > 0 || acknowledged.Load() != count {
		t.Fatalf("of %d records %d were acknowledged and %d failed", count, acknowledged.Load(), failed.Load())
	}
	verifyOnceInOrder(t, broker.Bootstrap(), topic, count)
}

// sendUntil sends numbered records to all partitions in turn and returns how many.
func sendUntil(ctx context.Context, t *testing.T, producer *kgo.Client, acknowledged, failed *atomic.Int64) int64 {
	var next int64
	for ctx.Err() == nil {
		number := next
		next++
		r := &kgo.Record{Partition: int32(number % crashPartitions), Value: []byte(strconv.FormatInt(number, 10))}
		producer.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Add(1)
				t.Errorf("record %d: %v", number, err)
				return
			}
			acknowledged.Add(1)
		})
		if number%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return next
}

func waitForProgress(t *testing.T, counter *atomic.Int64, more int64) {
	t.Helper()
	target := counter.Load() + more
	for deadline := time.Now().Add(90 * time.Second); counter.Load() < target; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("stuck at %d acknowledgements", counter.Load())
		}
	}
}

// verifyOnceInOrder reads every partition: partition p holds p, p+4, p+8 and so on, and nothing else.
func verifyOnceInOrder(t *testing.T, address, topic string, count int64) {
	t.Helper()
	starts := map[int32]kgo.Offset{}
	for partition := range int32(crashPartitions) {
		starts[partition] = kgo.NewOffset().AtStart()
	}
	consumer := newFranz(t, address, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: starts}), kgo.FetchMaxWait(time.Second))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := [crashPartitions]int64{0, 1, 2, 3}
	for seen := int64(0); seen < count; {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%v after %d of %d records", err, seen, count)
		}
		for _, r := range fetches.Records() {
			if want := strconv.FormatInt(next[r.Partition], 10); string(r.Value) != want {
				t.Fatalf("partition %d offset %d holds %s, want %s", r.Partition, r.Offset, r.Value, want)
			}
			next[r.Partition] += crashPartitions
			seen++
		}
	}
	// Each partition ends where it must: no duplicate hides behind the last record.
	for partition, want := range next {
		end := endOffset(t, address, topic, int32(partition))
		if records := (want - int64(partition)) / crashPartitions; end != records {
			t.Errorf("partition %d ends at %d after %d records", partition, end, records)
		}
	}
	t.Log(fmt.Sprint(count, " records, each once, in order"))
}

func TestIdempotentLibrdkafkaOutlivesKills(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("confluent", 20_000)
	produced := make(chan bool)
	go func() {
		// A subtest, so that it may end with Fatal.
		produced <- t.Run("produce", func(t *testing.T) {
			confluentScript().produce(t, broker.Bootstrap(), topic, records, "enable.idempotence=true", "batch.num.messages=20",
				"pace=0.0003", "retry.backoff.ms=20", "reconnect.backoff.max.ms=200", "log_level=0")
		})
	}()
	for range kills() / 2 {
		time.Sleep(700 * time.Millisecond)
		broker.Kill(t)
		broker.Resume(t)
	}
	if !<-produced {
		t.FailNow()
	}
	compare(t, confluentScript().consume(t, broker.Bootstrap(), topic, len(records)), records)
	if end := endOffset(t, broker.Bootstrap(), topic, 0); end != int64(len(records)) {
		t.Errorf("the log ends at %d after %d records", end, len(records))
	}
}
