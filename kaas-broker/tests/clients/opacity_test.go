package clients

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// complaints takes what a test would be failed with.
type complaints struct {
	testing.TB
	texts []string
}

func (c *complaints) Helper() {}

func (c *complaints) Error(arguments ...any) {
	for _, a := range arguments {
		if text, is := a.(string); is {
			c.texts = append(c.texts, text)
		}
	}
}

// Counters of records that a broker looked into die with its process. However a test ends the broker, it is told of them.
func TestEndedBrokersTellWhatTheyLookedInto(t *testing.T) {
	harness.NeedKaas(t)
	for name, end := range map[string]func(b *harness.Broker, t testing.TB){
		"kill":   (*harness.Broker).Kill,
		"stop":   (*harness.Broker).Stop,
		"freeze": func(b *harness.Broker, t testing.TB) { b.Freeze(t); b.Kill(t) },
	} {
		t.Run(name, func(t *testing.T) {
			broker := harness.Start(t, harness.Options{})
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			client := newFranz(t, broker.Bootstrap())
			record := &kgo.Record{Topic: topic, Value: []byte("a")}
			if err := client.ProduceSync(t.Context(), record).FirstErr(); err != nil {
				t.Fatal(err)
			}
			heard := &complaints{TB: t}
			broker.Kill(heard)
			if len(heard.texts) > 0 {
				t.Fatalf("a broker that looked into nothing: %q", heard.texts)
			}
			broker.Resume(t)
			// Kafka's contract makes this decode a batch; this test did not say so to the harness.
			lookUp(t, client, topic, record.Timestamp.UnixMilli())
			end(broker, heard)
			if len(heard.texts) != 1 || !strings.Contains(heard.texts[0], "timestamp-lookup") {
				t.Errorf("complaints are %q", heard.texts)
			}
		})
	}
}

// lookUp asks for the first record since a time, in ms.
func lookUp(t *testing.T, client *kgo.Client, topic string, since int64) {
	t.Helper()
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Timestamp = since
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic, asked.Partitions = topic, append(asked.Partitions, partition)
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID, request.Topics = -1, append(request.Topics, asked)
	response, err := request.RequestWith(t.Context(), client)
	if err != nil || response.Topics[0].Partitions[0].Offset != 0 {
		t.Fatalf("list offsets: %+v, %v", response, err)
	}
}
