//go:build unix

package main

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// newClient returns a client that tries again quickly and makes the topics it asks for.
func newClient(t *testing.T, address string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(address),
		kgo.AllowAutoTopicCreation(),
		kgo.RetryBackoffFn(func(int) time.Duration { return 20 * time.Millisecond }),
		kgo.MetadataMinAge(20 * time.Millisecond),
		kgo.FetchMaxWait(200 * time.Millisecond),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// produce sends values one by one; each is acknowledged when it returns.
func produce(t *testing.T, client *kgo.Client, topic string, values ...string) {
	t.Helper()
	for _, value := range values {
		if err := client.ProduceSync(within(t), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatalf("produce %s: %v", value, err)
		}
	}
}

// numbers are the texts of from to to-1.
func numbers(from, to int) []string {
	var texts []string
	for i := from; i < to; i++ {
		texts = append(texts, strconv.Itoa(i))
	}
	return texts
}

// contents reads partition 0 from its start to its present end.
func contents(t *testing.T, address, topic string) []string {
	t.Helper()
	client := newClient(t, address, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	defer client.Close()
	start, end := offset(t, client, topic, -2), offset(t, client, topic, -1)
	var values []string
	for next := start; next < end; {
		fetches := client.PollFetches(within(t))
		if err := fetches.Err(); err != nil {
			t.Fatalf("read after %d of %d: %v", next, end, err)
		}
		for _, r := range fetches.Records() {
			values = append(values, string(r.Value))
			next = r.Offset + 1
		}
	}
	return values
}

// offset asks ListOffsets for partition 0: -1 is the end, -2 the start.
func offset(t *testing.T, client *kgo.Client, topic string, timestamp int64) int64 {
	t.Helper()
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp = timestamp
	row := kmsg.NewListOffsetsRequestTopic()
	row.Topic, row.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{partition}
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.Topics = -1, []kmsg.ListOffsetsRequestTopic{row}
	for {
		response, err := request.RequestWith(within(t), client)
		if kerr.IsRetriable(err) { // no leader for a moment, while the partition is taken over
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return response.Topics[0].Partitions[0].Offset
	}
}

// produceOnce sends one batch without any second attempt. The error is that of the connection.
func produceOnce(t *testing.T, client *kgo.Client, topic, value string) (code int16, err error) {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Add(time.Now().UnixMilli(), nil, []byte(value))
	records, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = records
	row := kmsg.NewProduceRequestTopic()
	row.Topic, row.Partitions = topic, []kmsg.ProduceRequestTopicPartition{partition}
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis, request.Topics = -1, 5_000, []kmsg.ProduceRequestTopic{row}
	response, err := client.SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		return 0, err
	}
	return response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode, nil
}

// newProducerID asks for a producer id.
func newProducerID(t *testing.T, client *kgo.Client) int64 {
	t.Helper()
	request := kmsg.NewPtrInitProducerIDRequest()
	request.ProducerID, request.ProducerEpoch = -1, -1
	response, err := client.SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	answer := response.(*kmsg.InitProducerIDResponse)
	if answer.ErrorCode != 0 {
		t.Fatalf("no producer id: error %d", answer.ErrorCode)
	}
	return answer.ProducerID
}
