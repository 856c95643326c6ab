package clients

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// The broker dies again and again under the load of several clients: every acknowledged record keeps its offset, those of idempotent producers are
// there once and in the order of sending, the watermark never goes back, and no consumer sees two records at one offset.
func TestRecordsOutliveKills(t *testing.T) {
	const partitions = 4
	broker := harness.Start(t, harness.Options{Overrides: map[string]string{"log.segment.bytes": "200000"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, partitions)
	ledger := newLedger(t, partitions)
	load := newLoad(t, broker.Bootstrap(), topic, ledger)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	idempotent := []*worker{load.produce(running, "idempotent 1", true), load.produce(running, "idempotent 2", true)}
	load.produce(running, "not idempotent", false)
	load.produceSarama(running)
	load.consume(running, "consumer")

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for kill := range harness.Rounds(50, 500) {
		load.settle(20)
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		broker.Kill(t)
		t.Logf("kill %d after %d acknowledgements", kill+1, ledger.acknowledgements())
		broker.Resume(t)
		if t.Failed() {
			break
		}
	}
	load.settle(20)
	stop()
	load.clients.Wait()
	logs := ledger.judge(broker.Bootstrap(), topic)
	for sender, w := range idempotent {
		onceInOrder(t, logs, sender, w.sent)
	}
}

// onceInOrder checks that partition p holds the sender's records p, p+n, p+2n and so on for n partitions, and no other of that sender.
func onceInOrder(t *testing.T, logs [][]stamp, sender int, count int64) {
	t.Helper()
	total := int64(0)
	for partition, log := range logs {
		next := int64(partition)
		for offset, s := range log {
			if s.sender != sender {
				continue
			}
			if s.number != next {
				t.Fatalf("sender %d, partition %d offset %d: record %d, want %d", sender, partition, offset, s.number, next)
			}
			next += int64(len(logs))
			total++
		}
	}
	if total != count {
		t.Errorf("sender %d: %d records, %d were sent", sender, total, count)
	}
	t.Logf("sender %d: %d records, each once, in order", sender, total)
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
	for range harness.Rounds(5, 25) {
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
