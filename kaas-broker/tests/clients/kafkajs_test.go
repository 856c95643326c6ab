package clients

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

func kafkaJSScript() script {
	return script{
		name: "kafkajs", writes: []string{"none", "gzip", "snappy"}, reads: compressions,
		command: func(t *testing.T) harness.Command {
			return harness.Command{
				Program: harness.Find(t, "node"), Arguments: []string{"node/client.js"},
				Env: []string{"NODE_PATH=" + harness.Suite(t, "node/node_modules"), "KAFKAJS_NO_PARTITIONER_WARNING=1"},
			}
		},
	}
}

func kafkaJSClient() client { return kafkaJSScript().client() }

func TestKafkaJSIdempotentProducer(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	records := numbered("kafkajs", 500)
	kafkaJSScript().produce(t, broker.Bootstrap(), topic, records, "idempotent=true")
	compare(t, kafkaJSScript().consume(t, broker.Bootstrap(), topic, len(records)), records)
}

func TestKafkaJSAdmin(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	command := kafkaJSScript().command(t)
	command.Arguments = append(command.Arguments, "admin", "bootstrap="+broker.Bootstrap(), "topic="+uniqueName(t))
	command.Run(t)
}
