package brokertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
)

// exampleTB is enough of a test for an example, which gets none.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (*exampleTB) Helper()                  {}
func (*exampleTB) Failed() bool             { return false }
func (*exampleTB) Context() context.Context { return context.Background() }
func (t *exampleTB) Cleanup(f func())       { t.cleanups = append(t.cleanups, f) }
func (*exampleTB) Errorf(format string, arguments ...any) {
	fmt.Printf(format+"\n", arguments...)
}

func (*exampleTB) Fatal(arguments ...any) {
	panic(fmt.Sprint(arguments...))
}

func (t *exampleTB) Fatalf(format string, arguments ...any) {
	t.Fatal(fmt.Sprintf(format, arguments...))
}

func runAsTest(test func(t testing.TB)) {
	t := &exampleTB{}
	defer func() {
		for i := len(t.cleanups) - 1; i >= 0; i-- {
			t.cleanups[i]()
		}
	}()
	test(t)
}

// newClient returns a client that tries again quickly.
func newClient(t *testing.T, broker *brokertest.Broker, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(broker.Bootstrap()...),
		kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.FetchMaxWait(100 * time.Millisecond),
	}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// within ends with the test or after a time in which everything here is done many times over.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func produce(t *testing.T, client *kgo.Client, topic, value string) {
	t.Helper()
	if err := client.ProduceSync(within(t), &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		t.Fatalf("produce %s: %v", value, err)
	}
}

// consume reads count values of partition 0 from its start.
func consume(t *testing.T, broker *brokertest.Broker, topic string, count int) []string {
	t.Helper()
	client := newClient(t, broker, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	defer client.Close()
	var values []string
	for len(values) < count {
		fetches := client.PollFetches(within(t))
		if err := fetches.Err(); err != nil {
			t.Fatalf("consume after %v: %v", values, err)
		}
		for _, r := range fetches.Records() {
			values = append(values, string(r.Value))
		}
	}
	return values
}

// latest is the end offset of partition 0.
func latest(t *testing.T, client *kgo.Client, topic string) int64 {
	t.Helper()
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp = -1
	row := kmsg.NewListOffsetsRequestTopic()
	row.Topic, row.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{partition}
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.Topics = -1, []kmsg.ListOffsetsRequestTopic{row}
	response, err := request.RequestWith(within(t), client)
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].Partitions[0].Offset
}
