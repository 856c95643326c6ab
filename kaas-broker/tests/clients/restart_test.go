package clients

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// What was acknowledged before the broker left is there when it is back, whichever way it left and whichever client wrote it.
func TestRecordsSurviveTheBroker(t *testing.T) {
	for name, leave := range map[string]func(*harness.Broker, testing.TB){"restart": (*harness.Broker).Stop, "kill -9": (*harness.Broker).Kill} {
		t.Run(name, func(t *testing.T) {
			broker := harness.Start(t, harness.Options{})
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			var want []record
			for _, writer := range []client{franzClient(), kcatClient(), saramaClient(), confluentClient(), kafkaJSClient()} {
				records := numbered(writer.name, 100)
				writer.produce(t, broker.Bootstrap(), topic, "gzip", records)
				want = append(want, records...)
				leave(broker, t)
				broker.Resume(t)
			}
			for _, reader := range []client{franzClient(), kcatClient(), saramaClient(), kafkaGoClient(), confluentClient(), kafkaJSClient()} {
				compare(t, reader.consume(t, broker.Bootstrap(), topic, len(want)), want)
			}
		})
	}
}

// Topics, their settings and the start of their logs are part of what survives.
func TestTopicsSurviveTheBroker(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	kept, deleted := uniqueName(t)+"-kept", uniqueName(t)+"-deleted"
	createTopic(t, broker.Bootstrap(), kept, 3, "retention.ms", "7200000")
	createTopic(t, broker.Bootstrap(), deleted, 1)
	franzProduce(t, broker.Bootstrap(), kept, numbered("franz", 10))
	deleteRecords(t, broker.Bootstrap(), kept, 6)
	deleteTopic(t, broker.Bootstrap(), deleted)
	broker.Kill(t)
	broker.Resume(t)

	if got := partitionsOf(t, newFranz(t, broker.Bootstrap()), kept); got != 3 {
		t.Errorf("%d partitions, want 3", got)
	}
	if got := topicConfig(t, broker.Bootstrap(), kept, "retention.ms"); got != "7200000" {
		t.Errorf("retention.ms is %s, want 7200000", got)
	}
	compare(t, franzConsume(t, broker.Bootstrap(), kept, 4), numbered("franz", 10)[6:])
	if code := topicError(t, broker.Bootstrap(), deleted); code != kerr.UnknownTopicOrPartition.Code {
		t.Errorf("the deleted topic answers %v", kerr.ErrorForCode(code))
	}
}
