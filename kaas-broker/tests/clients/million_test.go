package clients

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

const million = 1_000_000

// A million small records over four partitions. Writer and readers keep a checksum for each partition over all keys, values and offsets.
func TestMillionRecords(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 4)
	want := produceMillion(t, broker.Bootstrap(), topic)
	t.Run("franz-go", func(t *testing.T) { want.compare(t, franzMillion(t, broker.Bootstrap(), topic)) })
	t.Run("sarama", func(t *testing.T) { want.compare(t, saramaMillion(t, broker.Bootstrap(), topic)) })
	broker.Kill(t)
	broker.Resume(t)
	t.Run("after kill -9", func(t *testing.T) { want.compare(t, franzMillion(t, broker.Bootstrap(), topic)) })
}

// checksums has one digest for each partition.
type checksums struct {
	digests [4]hash.Hash
	counts  [4]int64
}

func newChecksums() *checksums {
	sums := &checksums{}
	for i := range sums.digests {
		sums.digests[i] = sha256.New()
	}
	return sums
}

func (c *checksums) add(partition int32, offset int64, key, value []byte) {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:], uint64(offset))
	binary.BigEndian.PutUint32(head[8:], uint32(len(key)))
	binary.BigEndian.PutUint32(head[12:], uint32(len(value)))
	digest := c.digests[partition]
	digest.Write(head[:])
	digest.Write(key)
	digest.Write(value)
	c.counts[partition]++
}

func (c *checksums) total() int64 { return c.counts[0] + c.counts[1] + c.counts[2] + c.counts[3] }

func (c *checksums) compare(t *testing.T, got *checksums) {
	t.Helper()
	for partition := range c.digests {
		if got.counts[partition] != c.counts[partition] {
			t.Errorf("partition %d: %d records, want %d", partition, got.counts[partition], c.counts[partition])
		} else if string(got.digests[partition].Sum(nil)) != string(c.digests[partition].Sum(nil)) {
			t.Errorf("partition %d: the checksum differs", partition)
		}
	}
}

func produceMillion(t *testing.T, address, topic string) *checksums {
	t.Helper()
	producer := newFranz(t, address, kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(100_000),
		kgo.ProducerBatchCompression(kgo.SnappyCompression()))
	sums := newChecksums()
	var next [4]int64
	for i := range uint64(million) {
		partition := int32(i % 4)
		value := make([]byte, 16, 80)
		binary.BigEndian.PutUint64(value, i)
		binary.BigEndian.PutUint64(value[8:], i*0x9e3779b97f4a7c15)
		value = value[:16+i%64]
		key := value[:8]
		sums.add(partition, next[partition], key, value)
		next[partition]++
		producer.Produce(t.Context(), &kgo.Record{Partition: partition, Key: key, Value: value}, func(r *kgo.Record, err error) {
			if err != nil {
				t.Errorf("record %d: %v", binary.BigEndian.Uint64(r.Value), err)
			}
		})
	}
	if err := producer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return sums
}

func franzMillion(t *testing.T, address, topic string) *checksums {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	starts := map[int32]kgo.Offset{}
	for partition := range int32(4) {
		starts[partition] = kgo.NewOffset().AtStart()
	}
	consumer := newFranz(t, address, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: starts}))
	sums := newChecksums()
	for sums.total() < million {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%v after %d records", err, sums.total())
		}
		fetches.EachRecord(func(r *kgo.Record) { sums.add(r.Partition, r.Offset, r.Key, r.Value) })
	}
	return sums
}

func saramaMillion(t *testing.T, address, topic string) *checksums {
	t.Helper()
	consumer, err := sarama.NewConsumer([]string{address}, saramaConfig(sarama.V2_8_0_0))
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	sums := newChecksums()
	for number := range int32(4) {
		partition, err := consumer.ConsumePartition(topic, number, sarama.OffsetOldest)
		if err != nil {
			t.Fatal(err)
		}
		patience := time.After(time.Minute)
		for sums.counts[number] < million/4 {
			select {
			case message := <-partition.Messages():
				sums.add(number, message.Offset, message.Key, message.Value)
			case <-patience:
				t.Fatalf("only %d records of partition %d within a minute", sums.counts[number], number)
			}
		}
		_ = partition.Close()
	}
	return sums
}
