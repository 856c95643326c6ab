package clients

import (
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const tenMegabytes = 10_000_000

// Text that does not compress, so that the limits meet the size that the record has.
func largeRecord(seed uint64) record {
	random := rand.New(rand.NewPCG(seed, seed))
	value := make([]byte, tenMegabytes)
	for i := range value {
		value[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"[random.IntN(64)]
	}
	return record{Key: "large", Value: string(value)}
}

func TestLargeRecords(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1, "max.message.bytes", "12000000")
	address := broker.Bootstrap()
	raised := kgo.ProducerBatchMaxBytes(12_000_000)
	want := []record{largeRecord(1), {Key: "small", Value: "between"}, largeRecord(2), largeRecord(3), largeRecord(4), largeRecord(5)}

	franzProduce(t, address, topic, want[:1], raised)
	franzProduce(t, address, topic, want[1:2])
	franzProduce(t, address, topic, want[2:3], raised, kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	config := saramaConfig(sarama.DefaultVersion)
	config.Producer.MaxMessageBytes = 12_000_000
	saramaProduce(t, address, topic, want[3:4], config)
	confluentScript().produce(t, address, topic, want[4:5], "message.max.bytes=12000000")
	kafkaJSScript().produce(t, address, topic, want[5:6])

	for name, read := range map[string]func(t *testing.T) []record{
		"franz-go": func(t *testing.T) []record { return franzConsume(t, address, topic, len(want)) },
		"sarama": func(t *testing.T) []record {
			return saramaConsume(t, address, topic, len(want), saramaConfig(sarama.V2_8_0_0))
		},
		"kafka-go":        func(t *testing.T) []record { return kafkaGoConsume(t, address, topic, len(want)) },
		"confluent-kafka": func(t *testing.T) []record { return confluentScript().consume(t, address, topic, len(want)) },
		"java":            func(t *testing.T) []record { return consoleClient("3.7.2").consume(t, address, topic, len(want)) },
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t)
			if len(got) != len(want) {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for i := range got {
				if sha256.Sum256([]byte(got[i].Value)) != sha256.Sum256([]byte(want[i].Value)) {
					t.Errorf("record %d changed: %d bytes, want %d", i, len(got[i].Value), len(want[i].Value))
				}
			}
		})
	}
}

func TestLargeRecordIsRefusedWithoutARaisedLimit(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	producer := newFranz(t, broker.Bootstrap(), kgo.ProducerBatchMaxBytes(12_000_000))
	large := largeRecord(1)
	err := producer.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte(large.Value)}).FirstErr()
	if !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("error %v, want %v", err, kerr.MessageTooLarge)
	}
	records := numbered("after", 3)
	franzProduce(t, broker.Bootstrap(), topic, records)
	compare(t, franzConsume(t, broker.Bootstrap(), topic, 3), records)
}
