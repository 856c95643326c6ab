package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func franzClient() client {
	return client{
		name: "franz-go", writes: compressions, reads: compressions,
		produce: func(t *testing.T, address, topic, compression string, records []record) {
			franzProduce(t, address, topic, records, kgo.ProducerBatchCompression(franzCodec(compression)))
		},
		consume: func(t *testing.T, address, topic string, count int) []record {
			return franzConsume(t, address, topic, count)
		},
	}
}

func franzCodec(name string) kgo.CompressionCodec {
	switch name {
	case "gzip":
		return kgo.GzipCompression()
	case "snappy":
		return kgo.SnappyCompression()
	case "lz4":
		return kgo.Lz4Compression()
	case "zstd":
		return kgo.ZstdCompression()
	default:
		return kgo.NoCompression()
	}
}

func franzProduce(t *testing.T, address, topic string, records []record, options ...kgo.Opt) {
	t.Helper()
	producer := newFranz(t, address, append([]kgo.Opt{
		kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RecordDeliveryTimeout(time.Minute),
	}, options...)...)
	batch := make([]*kgo.Record, len(records))
	for i, r := range records {
		batch[i] = &kgo.Record{Key: []byte(r.Key), Value: []byte(r.Value)}
	}
	if err := producer.ProduceSync(t.Context(), batch...).FirstErr(); err != nil {
		t.Fatalf("produce to %s: %v", topic, err)
	}
}

func franzConsume(t *testing.T, address, topic string, count int, options ...kgo.Opt) []record {
	t.Helper()
	var records []record
	for _, r := range franzRecords(t, address, topic, count, options...) {
		records = append(records, record{Key: string(r.Key), Value: string(r.Value)})
	}
	return records
}

// franzRecords reads partition 0 from the start until it has count records, or fails after a minute without all of them.
func franzRecords(t *testing.T, address, topic string, count int, options ...kgo.Opt) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	consumer := newFranz(t, address, append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}),
		kgo.FetchMaxWait(time.Second),
	}, options...)...)
	defer consumer.Close()
	var records []*kgo.Record
	for len(records) < count {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("consume %s: %v after %d of %d records", topic, err, len(records), count)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

func TestFranzKeepsEveryPartOfARecord(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	at := time.UnixMilli(time.Now().Add(-time.Hour).UnixMilli())
	sent := []*kgo.Record{
		{Topic: topic, Value: []byte("only a value"), Timestamp: at},
		{Topic: topic, Key: []byte("a tombstone"), Timestamp: at.Add(time.Millisecond)},
		{Topic: topic, Key: []byte{}, Value: []byte{}, Timestamp: at.Add(2 * time.Millisecond)},
		{Topic: topic, Key: []byte{0, 255}, Value: bytes.Repeat([]byte{7}, 70_000), Timestamp: at.Add(-time.Second), Headers: []kgo.RecordHeader{
			{Key: "trace", Value: []byte("1")}, {Key: "trace", Value: []byte("2")}, {Key: "null"},
		}},
	}
	if err := newFranz(t, broker.Bootstrap()).ProduceSync(t.Context(), sent...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for i, got := range franzRecords(t, broker.Bootstrap(), topic, len(sent)) {
		want := sent[i]
		if got.Offset != int64(i) || !got.Timestamp.Equal(want.Timestamp) {
			t.Errorf("record %d: offset %d, timestamp %v, want %v", i, got.Offset, got.Timestamp, want.Timestamp)
		}
		if !same(got.Key, want.Key) || !same(got.Value, want.Value) {
			t.Errorf("record %d: key or value changed", i)
		}
		if fmt.Sprintf("%q", got.Headers) != fmt.Sprintf("%q", want.Headers) {
			t.Errorf("record %d: headers %q, want %q", i, got.Headers, want.Headers)
		}
	}
}

// same tells null from empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func TestFranzPinnedToOldVersions(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"up-convert", "down-convert"}})
	for _, tested := range []struct {
		name     string
		versions *kversion.Versions
	}{
		{"0.10.0", kversion.V0_10_0()},
		{"0.11.0", kversion.V0_11_0()},
		{"1.0.0", kversion.V1_0_0()},
		{"2.1.0", kversion.V2_1_0()},
		{"2.8.0", kversion.V2_8_0()},
		{"3.7.0", kversion.V3_7_0()},
	} {
		t.Run(tested.name, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered("franz", 100)
			// Brokers before 0.11 know neither producer ids nor headers.
			franzProduce(t, broker.Bootstrap(), topic, records, kgo.MaxVersions(tested.versions), kgo.DisableIdempotentWrite())
			compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records), kgo.MaxVersions(tested.versions)), records)
			compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records)), records)
		})
	}
}

func TestFranzAcknowledgements(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for name, acks := range map[string]kgo.Acks{"none": kgo.NoAck(), "leader": kgo.LeaderAck(), "all": kgo.AllISRAcks()} {
		t.Run(name, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered("franz", 200)
			franzProduce(t, broker.Bootstrap(), topic, records, kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite())
			compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records)), records)
		})
	}
}

func TestFranzLongPollSeesWhatComesLater(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	consumer := newFranz(t, broker.Bootstrap(), kgo.FetchMaxWait(20*time.Second),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	producer := newFranz(t, broker.Bootstrap(), kgo.DefaultProduceTopic(topic))
	for i := range 20 {
		if err := producer.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		fetches := consumer.PollFetches(ctx)
		cancel()
		if err := fetches.Err(); err != nil {
			t.Fatalf("record %d did not come while the poll was open: %v", i, err)
		}
		if got := string(fetches.Records()[0].Value); got != fmt.Sprint(i) {
			t.Fatalf("got %s, want %d", got, i)
		}
	}
}

func TestFranzTopicLifeCycle(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	client := newFranz(t, broker.Bootstrap())
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 2, "retention.ms", "60000")
	if code := tryCreateTopic(t, broker.Bootstrap(), topic, 2); !errors.Is(kerr.ErrorForCode(code), kerr.TopicAlreadyExists) {
		t.Errorf("a second creation answers %v", kerr.ErrorForCode(code))
	}

	grow := kmsg.NewPtrCreatePartitionsRequest()
	grow.TimeoutMillis = 10_000
	grown := kmsg.NewCreatePartitionsRequestTopic()
	grown.Topic, grown.Count = topic, 5
	grow.Topics = append(grow.Topics, grown)
	grew, err := grow.RequestWith(t.Context(), client)
	if err != nil || grew.Topics[0].ErrorCode != 0 {
		t.Fatalf("create partitions: %v %v", err, grew)
	}
	harness.Settle()
	if got := partitionsOf(t, client, topic); got != 5 {
		t.Errorf("%d partitions after growing to 5", got)
	}

	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.TimeoutMillis = 10_000
	remove.TopicNames = []string{topic}
	removed := kmsg.NewDeleteTopicsRequestTopic()
	removed.Topic = &topic
	remove.Topics = append(remove.Topics, removed)
	gone, err := remove.RequestWith(t.Context(), client)
	if err != nil || gone.Topics[0].ErrorCode != 0 {
		t.Fatalf("delete topic: %v %v", err, gone)
	}
	harness.Settle()
	// The name is free again, and what it held is gone.
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("second life", 10)
	franzProduce(t, broker.Bootstrap(), topic, records)
	compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records)), records)
}

func partitionsOf(t *testing.T, client *kgo.Client, topic string) int {
	t.Helper()
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &topic
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	if code := response.Topics[0].ErrorCode; code != 0 {
		t.Fatalf("metadata of %s: %v", topic, kerr.ErrorForCode(code))
	}
	return len(response.Topics[0].Partitions)
}
