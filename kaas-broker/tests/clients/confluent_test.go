package clients

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// confluentScript is confluent-kafka for Python, which is librdkafka of a newer version than kcat's.
func confluentScript() script {
	return script{name: "confluent-kafka", writes: compressions, reads: compressions, command: python("confluent.py")}
}

func confluentClient() client { return confluentScript().client() }

func TestConfluentIdempotentProducer(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("confluent", 2000)
	confluentScript().produce(t, broker.Bootstrap(), topic, records, "enable.idempotence=true", "batch.num.messages=50")
	compare(t, confluentScript().consume(t, broker.Bootstrap(), topic, len(records)), records)
}

// The admin client of librdkafka: topics, partitions, configs, records, cluster.
func TestConfluentAdmin(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	command := python("confluent_admin.py")(t)
	command.Arguments = append(command.Arguments, broker.Bootstrap(), uniqueName(t))
	command.Run(t)
}

// Old brokers could not say what they understand, so librdkafka can be told.
func TestConfluentWithoutVersionNegotiation(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"up-convert", "down-convert"}})
	for _, version := range []string{"0.9.0.1", "0.10.0.0"} {
		t.Run(version, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered("confluent", 200)
			pinned := []string{"api.version.request=false", "broker.version.fallback=" + version}
			confluentScript().produce(t, broker.Bootstrap(), topic, records, pinned...)
			compare(t, confluentScript().consume(t, broker.Bootstrap(), topic, len(records), pinned...), records)
		})
	}
}
