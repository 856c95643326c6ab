package clients

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// record is what every client can write and read: a text key and a text value.
type record struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// client is one Kafka client, reduced to what all of them can do with partition 0 of a topic.
type client struct {
	name string
	// writes and reads are the compression types it knows.
	writes, reads []string
	produce       func(t *testing.T, address, topic, compression string, records []record)
	// consume reads from the start until it has so many records.
	consume func(t *testing.T, address, topic string, count int) []record
}

var compressions = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// all lists the clients. It is a function so that a test without a suite skips only that client.
func all() []client {
	return []client{
		franzClient(), kcatClient(), saramaClient(), kafkaGoClient(), confluentClient(), kafkaPythonClient(), kafkaJSClient(),
		consoleClient("3.7.2"), consoleClient("4.3.1"),
	}
}

// numbered makes records that name their writer and their place.
func numbered(writer string, count int) []record {
	records := make([]record, count)
	for i := range records {
		records[i] = record{Key: fmt.Sprintf("%s-%d", writer, i%7), Value: fmt.Sprintf("%s value %d, long enough to be worth compressing compressing", writer, i)}
	}
	return records
}

// createTopic makes a topic and fails the test when the broker does not.
func createTopic(t *testing.T, address, topic string, partitions int32, configs ...string) {
	t.Helper()
	if code := tryCreateTopic(t, address, topic, partitions, configs...); code != 0 {
		t.Fatalf("create topic %s: error %d", topic, code)
	}
	harness.Settle()
}

// tryCreateTopic makes a topic with configs as key, value, key, value and returns the error code.
func tryCreateTopic(t *testing.T, address, topic string, partitions int32, configs ...string) int16 {
	t.Helper()
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	asked := kmsg.NewCreateTopicsRequestTopic()
	asked.Topic = topic
	asked.NumPartitions = partitions
	asked.ReplicationFactor = 1
	for pair := range slices.Chunk(configs, 2) {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name = pair[0]
		config.Value = &pair[1]
		asked.Configs = append(asked.Configs, config)
	}
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), newFranz(t, address))
	if err != nil {
		t.Fatalf("create topic %s: %v", topic, err)
	}
	return response.Topics[0].ErrorCode
}

// newFranz is a franz-go client that is closed with the test.
func newFranz(t *testing.T, address string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	made, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(address)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// compare fails the test at the first difference.
func compare(t *testing.T, got, want []record) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("record %d is %v, want %v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
}

func TestRoundTrip(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for _, tested := range all() {
		t.Run(tested.name, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered(tested.name, 300)
			tested.produce(t, broker.Bootstrap(), topic, "none", records)
			compare(t, tested.consume(t, broker.Bootstrap(), topic, len(records)), records)
		})
	}
}

// Every client appends to the same partition with one compression type, then every client reads all of it.
func TestCompressionAcrossClients(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for _, compression := range compressions {
		t.Run(compression, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			var want []record
			for _, writer := range all() {
				if !slices.Contains(writer.writes, compression) {
					continue
				}
				t.Run("write "+writer.name, func(t *testing.T) {
					records := numbered(writer.name, 50)
					writer.produce(t, broker.Bootstrap(), topic, compression, records)
					want = append(want, records...)
				})
			}
			for _, reader := range all() {
				if !slices.Contains(reader.reads, compression) {
					continue
				}
				t.Run("read "+reader.name, func(t *testing.T) {
					compare(t, reader.consume(t, broker.Bootstrap(), topic, len(want)), want)
				})
			}
		})
	}
}
