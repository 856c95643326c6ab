package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// tools runs the shell tools of one version against one broker.
type tools struct {
	version string
	address string
}

func (s tools) run(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	return shellTool(t, s.version, name, append([]string{"--bootstrap-server", s.address}, arguments...)...).Run(t)
}

// The shell tools of the Apache Kafka whose behavior kaas follows, and of the newest one.
func TestApacheShellTools(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for _, version := range []string{"3.7.2", "4.3.1"} {
		t.Run(version, func(t *testing.T) {
			set := tools{version: version, address: broker.Bootstrap()}
			t.Run("topics", set.topics)
			t.Run("configs", set.configs)
			t.Run("offsets and delete records", set.deleteRecords)
			t.Run("producer perf test", set.perfTest)
			t.Run("verifiable producer", set.verifiableProducer)
			t.Run("api versions and cluster", set.cluster)
		})
	}
}

func (s tools) topics(t *testing.T) {
	topic := uniqueName(t)
	expect(t, s.run(t, "kafka-topics", "--create", "--topic", topic, "--partitions", "2", "--config", "segment.bytes=1048576"),
		"Created topic "+topic)
	harness.Settle()
	expect(t, s.run(t, "kafka-topics", "--list"), topic)
	expect(t, s.run(t, "kafka-topics", "--describe", "--topic", topic), "PartitionCount: 2", "ReplicationFactor: 1", "segment.bytes=1048576",
		"Partition: 1\tLeader: ")
	s.run(t, "kafka-topics", "--alter", "--topic", topic, "--partitions", "4")
	harness.Settle()
	expect(t, s.run(t, "kafka-topics", "--describe", "--topic", topic), "PartitionCount: 4", "Partition: 3\tLeader: ")
	again := shellTool(t, s.version, "kafka-topics", "--bootstrap-server", s.address, "--create", "--topic", topic).Try(t)
	if again.Status == 0 || !strings.Contains(again.Output+again.Errors, "exists") {
		t.Errorf("a second creation: status %d, %s%s", again.Status, again.Output, again.Errors)
	}
	s.run(t, "kafka-topics", "--delete", "--topic", topic)
	harness.Settle()
	if list := s.run(t, "kafka-topics", "--list"); strings.Contains(list, topic) {
		t.Errorf("%s is still listed after its deletion:\n%s", topic, list)
	}
}

func (s tools) configs(t *testing.T) {
	topic := uniqueName(t)
	createTopic(t, s.address, topic, 1)
	entity := []string{"--entity-type", "topics", "--entity-name", topic}
	expect(t, s.run(t, "kafka-configs", append(entity, "--alter", "--add-config", "retention.ms=123456,cleanup.policy=[compact,delete]")...),
		"Completed updating config for topic "+topic)
	harness.Settle()
	expect(t, s.run(t, "kafka-configs", append(entity, "--describe")...), "retention.ms=123456", "cleanup.policy=compact,delete")
	expect(t, s.run(t, "kafka-configs", append(entity, "--describe", "--all")...), "max.message.bytes=1048588", "DYNAMIC_TOPIC_CONFIG:retention.ms=123456")
	s.run(t, "kafka-configs", append(entity, "--alter", "--delete-config", "retention.ms")...)
	harness.Settle()
	if left := s.run(t, "kafka-configs", append(entity, "--describe")...); strings.Contains(left, "retention.ms=") {
		t.Errorf("retention.ms is still set after its deletion:\n%s", left)
	}
	refused := shellTool(t, s.version, "kafka-configs", append([]string{"--bootstrap-server", s.address, "--alter", "--add-config", "retention.ms=soon"},
		entity...)...).Try(t)
	if refused.Status == 0 || !strings.Contains(refused.Output+refused.Errors, "retention.ms") {
		t.Errorf("an invalid value: status %d, %s%s", refused.Status, refused.Output, refused.Errors)
	}
}

func (s tools) deleteRecords(t *testing.T) {
	topic := uniqueName(t)
	createTopic(t, s.address, topic, 2)
	franzProduce(t, s.address, topic, numbered("franz", 12))
	expect(t, s.run(t, "kafka-get-offsets", "--topic", topic), topic+":0:12", topic+":1:0")
	plan := filepath.Join(t.TempDir(), "plan.json")
	text := fmt.Sprintf(`{"version":1,"partitions":[{"topic":%q,"partition":0,"offset":5}]}`, topic)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, s.run(t, "kafka-delete-records", "--offset-json-file", plan), "low_watermark: 5")
	expect(t, s.run(t, "kafka-get-offsets", "--topic", topic, "--time", "earliest"), topic+":0:5")
	compare(t, franzConsume(t, s.address, topic, 7), numbered("franz", 12)[5:])
}

func (s tools) perfTest(t *testing.T) {
	topic := uniqueName(t)
	createTopic(t, s.address, topic, 1)
	command := shellTool(t, s.version, "kafka-producer-perf-test", "--topic", topic, "--num-records", "20000", "--record-size", "200",
		"--throughput", "-1", "--producer-props", "bootstrap.servers="+s.address, "acks=all", "compression.type=lz4")
	expect(t, command.Run(t), "20000 records sent")
	expect(t, s.run(t, "kafka-get-offsets", "--topic", topic), topic+":0:20000")
}

func (s tools) verifiableProducer(t *testing.T) {
	topic := uniqueName(t)
	createTopic(t, s.address, topic, 1)
	output := s.run(t, "kafka-verifiable-producer", "--topic", topic, "--max-messages", "500", "--acks", "-1")
	var next int64
	for line := range strings.Lines(output) {
		var event struct {
			Name          string
			Offset, Acked int64
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch event.Name {
		case "producer_send_success":
			if event.Offset != next {
				t.Fatalf("offset %d, want %d", event.Offset, next)
			}
			next++
		case "tool_data":
			if event.Acked != 500 {
				t.Errorf("%d acknowledged, want 500", event.Acked)
			}
		}
	}
	if next != 500 {
		t.Errorf("%d sent, want 500\n%s", next, output)
	}
}

func (s tools) cluster(t *testing.T) {
	output := s.run(t, "kafka-broker-api-versions")
	expect(t, output, s.address+" (id: ", "Produce(0): 0 to ", "Metadata(3): 0 to 12")
	if strings.Contains(output, "Produce(0): UNSUPPORTED") {
		t.Error(output)
	}
	expect(t, shellTool(t, s.version, "kafka-cluster", "cluster-id", "--bootstrap-server", s.address).Run(t), "Cluster ID: ")
}

func expect(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the output does not say %q:\n%s", part, text)
		}
	}
}
