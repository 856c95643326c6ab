package hostile

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// bombBytes is what a bomb becomes, just within what the broker decompresses of one batch.
const bombBytes = 120 << 20

// bomb is a batch of one record of zeros, or of as many tiny ones as fit.
func bomb(t *testing.T, codec batch.Compression, size, records int) []byte {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	value := make([]byte, size/records)
	for range records {
		builder.Add(time.Now().UnixMilli(), []byte("k"), value)
	}
	made, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(made)
}

func produceRequest(version int16, topic string, acks int16, records []byte) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = version, acks, 30_000
	wanted := kmsg.NewProduceRequestTopic()
	wanted.Topic = topic
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = records
	wanted.Partitions = append(wanted.Partitions, partition)
	request.Topics = append(request.Topics, wanted)
	return request
}

func fetchRequest(version int16, topic string, offset int64) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.MaxWaitMillis, request.MinBytes, request.MaxBytes, request.SessionEpoch = version, 100, 1, 50<<20, -1
	wanted := kmsg.NewFetchRequestTopic()
	wanted.Topic = topic
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.FetchOffset, partition.PartitionMaxBytes, partition.CurrentLeaderEpoch = offset, 50<<20, -1
	wanted.Partitions = append(wanted.Partitions, partition)
	request.Topics = append(request.Topics, wanted)
	return request
}

// together runs so many clients at the same time and fails the test if any of them is left without an answer.
func together(t *testing.T, clients int, run func(number int) error) {
	t.Helper()
	var work sync.WaitGroup
	var failed atomic.Int64
	for number := range clients {
		work.Go(func() {
			if err := run(number); err != nil && failed.Add(1) == 1 {
				t.Errorf("client %d: %v", number, err)
			}
		})
	}
	work.Wait()
}

// Batches of a few kilobytes that become 120 MiB, from many clients at once, wherever records have to be decompressed.
func TestCompressionBombs(t *testing.T) {
	clients := pick(12, 100)
	for _, tested := range []struct {
		name     string
		settings []string
		version  int16
		codec    batch.Compression
		records  int
	}{
		{name: "compacted topic gzip", settings: []string{"cleanup.policy", "compact"}, version: 8, codec: batch.Gzip, records: 1},
		{name: "compacted topic zstd", settings: []string{"cleanup.policy", "compact"}, version: 8, codec: batch.Zstd, records: 1},
		{name: "recompression", settings: []string{"compression.type", "lz4"}, version: 8, codec: batch.Gzip, records: 1},
		{name: "recompression to none", settings: []string{"compression.type", "uncompressed"}, version: 8, codec: batch.Zstd, records: 1},
	} {
		t.Run(tested.name, func(t *testing.T) {
			broker := start(t, harness.Options{Mode: harness.Dev, Decodes: []string{"compact-keys", "recompress"}})
			watch(t, broker, bombBound)
			runBeside(t, broker.Bootstrap())
			createTopic(t, broker.Bootstrap(), "bombed", 1, tested.settings...)
			made := bomb(t, tested.codec, bombBytes, tested.records)
			t.Logf("a batch of %d KiB that becomes %d MiB, from %d clients", len(made)>>10, bombBytes>>20, clients)
			together(t, clients, func(int) error {
				_, err := dial(t, broker.Bootstrap()).call(produceRequest(tested.version, "bombed", -1, made), time.Minute)
				return err
			})
		})
	}
}

// bombBound is what the broker may take beside what it holds anyway, however many bombs come at once.
const bombBound = 1536 * mib

// A bomb is stored as it came, since nobody looks into it. Old clients need it converted, a question for a time looks into it.
func TestStoredCompressionBombs(t *testing.T) {
	clients := pick(12, 100)
	broker := start(t, harness.Options{Mode: harness.Dev, Decodes: []string{"down-convert", "timestamp-lookup"}})
	createTopic(t, broker.Bootstrap(), "bombed", 1, "max.message.bytes", "10000000")
	for _, made := range [][]byte{bomb(t, batch.Gzip, 1000*mib, 1), bomb(t, batch.Gzip, bombBytes-40*mib, 1), bomb(t, batch.Gzip, bombBytes-40*mib, 1_000_000)} {
		dial(t, broker.Bootstrap()).store(t, "bombed", made)
	}
	for name, request := range map[string]func() kmsg.Request{
		"converted down":   func() kmsg.Request { return fetchRequest(2, "bombed", 0) },
		"asked for a time": func() kmsg.Request { return listOffsetsRequest("bombed", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			watch(t, broker, bombBound)
			runBeside(t, broker.Bootstrap())
			together(t, clients, func(int) error {
				_, err := dial(t, broker.Bootstrap()).call(request(), time.Minute)
				return err
			})
		})
	}
}
