package clients

import (
	"context"
	"testing"
	"time"

	kafka "github.com/segmentio/kafka-go"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func kafkaGoClient() client {
	return client{name: "kafka-go", writes: compressions, reads: compressions, produce: kafkaGoProduce, consume: kafkaGoConsume}
}

func kafkaGoProduce(t *testing.T, address, topic, compression string, records []record) {
	t.Helper()
	codecs := map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	writer := kafka.Writer{
		Addr: kafka.TCP(address), Topic: topic, RequiredAcks: kafka.RequireAll,
		BatchTimeout: 10 * time.Millisecond, Compression: codecs[compression],
		Transport: &kafka.Transport{},
	}
	defer writer.Close()
	messages := make([]kafka.Message, len(records))
	for i, r := range records {
		messages[i] = kafka.Message{Key: []byte(r.Key), Value: []byte(r.Value)}
	}
	if err := writer.WriteMessages(t.Context(), messages...); err != nil {
		t.Fatalf("produce to %s: %v", topic, err)
	}
}

func kafkaGoConsume(t *testing.T, address, topic string, count int) []record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, Topic: topic, MaxWait: time.Second})
	defer reader.Close()
	if err := reader.SetOffset(kafka.FirstOffset); err != nil {
		t.Fatal(err)
	}
	var records []record
	for len(records) < count {
		message, err := reader.ReadMessage(ctx)
		if err != nil {
			t.Fatalf("consume %s: %v after %d of %d records", topic, err, len(records), count)
		}
		records = append(records, record{Key: string(message.Key), Value: string(message.Value)})
	}
	return records
}

func TestKafkaGoAdministersTopics(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	client := &kafka.Client{Addr: kafka.TCP(broker.Bootstrap()), Timeout: 20 * time.Second, Transport: &kafka.Transport{}}
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: 3, ReplicationFactor: 1},
	}})
	if err != nil || created.Errors[topic] != nil {
		t.Fatalf("create: %v %v", err, created)
	}
	harness.Settle()
	kafkaGoProduceTo(t, broker.Bootstrap(), topic, 1, 4)
	offsets, err := client.ListOffsets(t.Context(), &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{
		topic: {kafka.FirstOffsetOf(1), kafka.LastOffsetOf(1)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := offsets.Topics[topic][0]; got.FirstOffset != 0 || got.LastOffset != 4 {
		t.Errorf("offsets %d to %d, want 0 to 4", got.FirstOffset, got.LastOffset)
	}
	deleted, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil || deleted.Errors[topic] != nil {
		t.Fatalf("delete: %v %v", err, deleted)
	}
}

// kafkaGoProduceTo writes with the connection type that kafka-go had before its Writer, which speaks older versions.
func kafkaGoProduceTo(t *testing.T, address, topic string, partition, count int) {
	t.Helper()
	connection, err := kafka.DialLeader(t.Context(), "tcp", address, topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	for range count {
		if _, err := connection.WriteMessages(kafka.Message{Value: []byte("by connection")}); err != nil {
			t.Fatal(err)
		}
	}
}
