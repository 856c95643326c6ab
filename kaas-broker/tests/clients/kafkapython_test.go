package clients

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func kafkaPythonScript() script {
	return script{
		name: "kafka-python", writes: []string{"none", "gzip"}, reads: []string{"none", "gzip"},
		command: python("kafkapython.py"),
	}
}

func kafkaPythonClient() client { return kafkaPythonScript().client() }

// Kafka-python chooses its request versions by the broker version that it is told.
func TestKafkaPythonPinnedToOldVersions(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"up-convert", "down-convert"}})
	for _, version := range []string{"0.10.1", "0.11", "1.0", "2.0"} {
		t.Run(version, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered("python", 200)
			kafkaPythonScript().produce(t, broker.Bootstrap(), topic, records, "compression=gzip", "version="+version)
			compare(t, kafkaPythonScript().consume(t, broker.Bootstrap(), topic, len(records), "version="+version), records)
			compare(t, franzConsume(t, broker.Bootstrap(), topic, len(records)), records)
		})
	}
}
