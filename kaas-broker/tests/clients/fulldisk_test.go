package clients

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const (
	volumeSize  = 192 << 20
	ballastSize = 120 << 20
)

// On a full disk Produce answers 56 and everything else goes on, over a restart too. Writing resumes when there is space again.
func TestFullDisk(t *testing.T) {
	harness.NeedKaas(t)
	volume := harness.Volume(t, volumeSize, false)
	ballast := filepath.Join(volume, "ballast")
	if err := os.WriteFile(ballast, make([]byte, ballastSize), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := harness.Start(t, harness.Options{Dir: filepath.Join(volume, "data"), Flags: []string{"--cluster-dir", t.TempDir()}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)

	acknowledged := fill(t, broker.Bootstrap(), topic)
	t.Logf("full after %d records", len(acknowledged))
	compare(t, franzConsume(t, broker.Bootstrap(), topic, len(acknowledged)), acknowledged)
	// The cluster directory is on another volume: what belongs to no topic is still written.
	if got := topicConfig(t, broker.Bootstrap(), topic, "cleanup.policy"); got != "delete" {
		t.Errorf("cleanup.policy is %s", got)
	}

	broker.Kill(t)
	broker.Resume(t)
	compare(t, franzConsume(t, broker.Bootstrap(), topic, len(acknowledged)), acknowledged)

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	after := numbered("after", 20)
	eventually(t, time.Minute, func() error { return tryProduce(t, broker.Bootstrap(), topic, after[0]) })
	franzProduce(t, broker.Bootstrap(), topic, after[1:])
	compare(t, franzConsume(t, broker.Bootstrap(), topic, len(acknowledged)+20), append(acknowledged, after...))
}

// fill produces until the broker answers that its storage fails, and returns what it has acknowledged.
func fill(t *testing.T, address, topic string) []record {
	t.Helper()
	var acknowledged []record
	for number := range uint64(volumeSize / (500 << 10)) {
		large := largeRecord(number)
		large.Value = large.Value[:500<<10]
		err := tryProduce(t, address, topic, large)
		if err == nil {
			acknowledged = append(acknowledged, large)
			continue
		}
		if !errors.Is(err, kerr.KafkaStorageError) {
			t.Fatalf("a full disk answers %v, want %v", err, kerr.KafkaStorageError)
		}
		return acknowledged
	}
	t.Fatal("the volume never fills up")
	return nil
}

// tryProduce sends one record without retries.
func tryProduce(t *testing.T, address, topic string, r record) error {
	t.Helper()
	producer := newFranz(t, address, kgo.DisableIdempotentWrite(), kgo.RecordRetries(0), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer producer.Close()
	return producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte(r.Key), Value: []byte(r.Value)}).FirstErr()
}

// eventually tries until it succeeds.
func eventually(t *testing.T, patience time.Duration, try func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still after %v: %v", patience, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
