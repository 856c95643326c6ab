package clients

import (
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func saramaClient() client {
	return client{
		name: "sarama", writes: compressions, reads: compressions,
		produce: func(t *testing.T, address, topic, compression string, records []record) {
			config := saramaConfig(sarama.DefaultVersion)
			// The smallest version that allows every compression type.
			if compression == "zstd" {
				config.Version = sarama.V2_1_0_0
			}
			if err := config.Producer.Compression.UnmarshalText([]byte(compression)); err != nil {
				t.Fatal(err)
			}
			saramaProduce(t, address, topic, records, config)
		},
		consume: func(t *testing.T, address, topic string, count int) []record {
			return saramaConsume(t, address, topic, count, saramaConfig(sarama.DefaultVersion))
		},
	}
}

func saramaConfig(version sarama.KafkaVersion) *sarama.Config {
	config := sarama.NewConfig()
	config.Version = version
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Metadata.Retry.Backoff = 100 * time.Millisecond
	return config
}

func saramaProduce(t *testing.T, address, topic string, records []record, config *sarama.Config) {
	t.Helper()
	producer, err := sarama.NewSyncProducer([]string{address}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	messages := make([]*sarama.ProducerMessage, len(records))
	for i, r := range records {
		messages[i] = &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder(r.Key), Value: sarama.StringEncoder(r.Value)}
	}
	if err := producer.SendMessages(messages); err != nil {
		t.Fatalf("produce to %s: %v", topic, err)
	}
	for i, message := range messages {
		if i > 0 && message.Offset != messages[0].Offset+int64(i) {
			t.Fatalf("record %d got offset %d, the first one %d", i, message.Offset, messages[0].Offset)
		}
	}
}

func saramaConsume(t *testing.T, address, topic string, count int, config *sarama.Config) []record {
	t.Helper()
	consumer, err := sarama.NewConsumer([]string{address}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Close()
	var records []record
	patience := time.After(time.Minute)
	for len(records) < count {
		select {
		case message := <-partition.Messages():
			records = append(records, record{Key: string(message.Key), Value: string(message.Value)})
		case <-patience:
			t.Fatalf("only %d of %d records within a minute", len(records), count)
		}
	}
	return records
}

// Sarama sends the versions that its configuration implies, whatever the broker offers.
func TestSaramaPinnedToOldVersions(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"up-convert", "down-convert"}})
	for _, version := range []sarama.KafkaVersion{
		sarama.V0_10_0_0, sarama.V0_10_2_0, sarama.V0_11_0_0, sarama.V1_0_0_0, sarama.V2_0_0_0, sarama.V2_8_0_0, sarama.V3_6_0_0,
	} {
		for _, compression := range []string{"none", "gzip", "snappy", "lz4"} {
			t.Run(version.String()+"/"+compression, func(t *testing.T) {
				topic := uniqueName(t)
				createTopic(t, broker.Bootstrap(), topic, 1)
				config := saramaConfig(version)
				if err := config.Producer.Compression.UnmarshalText([]byte(compression)); err != nil {
					t.Fatal(err)
				}
				records := numbered("sarama", 60)
				saramaProduce(t, broker.Bootstrap(), topic, records, config)
				// As it was written, and as the newest client sees it.
				compare(t, saramaConsume(t, broker.Bootstrap(), topic, len(records), config), records)
				compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records)), records)
			})
		}
	}
}

func TestSaramaReadsNewRecordsWithOldVersions(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"down-convert"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("franz", 500)
	franzProduce(t, broker.Bootstrap(), topic, records)
	for _, version := range []sarama.KafkaVersion{sarama.V0_8_2_0, sarama.V0_9_0_0, sarama.V0_10_0_0, sarama.V1_0_0_0} {
		t.Run(version.String(), func(t *testing.T) {
			compare(t, saramaConsume(t, broker.Bootstrap(), topic, len(records), saramaConfig(version)), records)
		})
	}
}

func TestSaramaIdempotentProducer(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	config := saramaConfig(sarama.V2_8_0_0)
	config.Producer.Idempotent = true
	config.Net.MaxOpenRequests = 1
	records := numbered("sarama", 1000)
	saramaProduce(t, broker.Bootstrap(), topic, records, config)
	compare(t, saramaConsume(t, broker.Bootstrap(), topic, len(records), config), records)
}

func TestSaramaAdmin(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	admin, err := sarama.NewClusterAdmin([]string{broker.Bootstrap()}, saramaConfig(sarama.V2_8_0_0))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	retention := "3600000"
	if err := admin.CreateTopic(topic, &sarama.TopicDetail{
		NumPartitions: 2, ReplicationFactor: 1, ConfigEntries: map[string]*string{"retention.ms": &retention},
	}, false); err != nil {
		t.Fatal(err)
	}
	harness.Settle()
	described, err := admin.DescribeConfigs([]*sarama.ConfigResource{
		{Type: sarama.TopicResource, Name: topic, ConfigNames: []string{"retention.ms"}},
	}, sarama.DescribeConfigsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(described) != 1 || described[0].ErrorCode != sarama.ErrNoError {
		t.Fatalf("described as %+v", described)
	}
	entries := described[0].Configs
	if len(entries) != 1 || entries[0].Value != retention || entries[0].Default {
		t.Errorf("retention.ms is described as %+v", entries)
	}
	if err := admin.CreatePartitions(topic, 4, nil, false); err != nil {
		t.Error(err)
	}
	harness.Settle()
	topics, err := admin.ListTopics()
	if err != nil {
		t.Fatal(err)
	}
	if got := topics[topic].NumPartitions; got != 4 {
		t.Errorf("%d partitions, want 4", got)
	}
	if err := admin.DeleteTopic(topic); err != nil {
		t.Error(err)
	}
}
