package transcripts

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func newTopic(name string, partitions int32, replicas int16, settings ...string) kmsg.CreateTopicsRequestTopic {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, replicas
	for _, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		topic.Configs = append(topic.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: key, Value: &value})
	}
	return topic
}

// assigned is a topic whose partitions are put on brokers.
func assigned(brokers ...[]int32) kmsg.CreateTopicsRequestTopic {
	topic := newTopic("create-topics-assigned", -1, -1)
	for i, replicas := range brokers {
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Partition: int32(i), Replicas: replicas})
	}
	return topic
}

func createTopics(topics ...kmsg.CreateTopicsRequestTopic) *kmsg.CreateTopicsRequest {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics, request.TimeoutMillis = topics, 30000
	return request
}

// manySettings hides the settings that a created topic has: describe_configs.go is about them.
const manySettings = "Topics[*].Configs[*]"

func createTopicsScript(t *Talk) {
	for version := range int16(8) {
		name := "create-topics-v" + string('0'+rune(version))
		check := createTopics(newTopic(name, 3, 1, "retention.ms=1234567"))
		check.ValidateOnly = true
		if version >= 1 {
			t.Ask("only validated", version, check, manySettings)
		}
		t.Ask("created", version, createTopics(newTopic(name, 3, 1, "retention.ms=1234567")), manySettings)
		t.Settle()
		t.Ask("exists already", version, createTopics(newTopic(name, 3, 1)), manySettings)
		if version >= 1 {
			t.Ask("exists already, only validated", version, check, manySettings)
		}
	}
	t.Ask("the settings of a new topic", 7, createTopics(newTopic("create-topics-settings", 1, 1, "cleanup.policy=compact", "segment.bytes= 1048576 ")))
	createTopicsNames(t)
	createTopicsSizes(t)
	createTopicsAssignments(t)
	createTopicsSettings(t)
	t.AskEach("no topic", 0, 7, createTopics())
	hurried := createTopics(newTopic("create-topics-hurried", 1, 1), newTopic("create-topics-v0", 1, 1))
	for _, hurried.TimeoutMillis = range []int32{0, -1} {
		t.Ask(noPatience(hurried.TimeoutMillis), 7, hurried)
	}
}

// noPatience names a request that leaves no time for a change.
func noPatience(milliseconds int32) string { return fmt.Sprintf("a timeout of %d ms", milliseconds) }

func createTopicsNames(t *Talk) {
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 7, createTopics(newTopic(invalidNames[what], 1, 1)))
	}
	t.AskEach("an invalid name, two dots, beside a good one", 0, 0, createTopics(newTopic("..", 1, 1), newTopic("create-topics_good", 1, 1)))
	t.Ask("249 characters", 7, createTopics(newTopic("create-topics-"+strings.Repeat("x", 235), 1, 1)), manySettings)
	t.Ask("the metadata log of the cluster", 7, createTopics(newTopic("__cluster_metadata", 1, 1)))
	t.Settle()
	t.Ask("collides with a topic", 7, createTopics(newTopic("create-topics.good", 1, 1)))
	t.Ask("named twice", 7, createTopics(newTopic("create-topics-twice", 1, 1), newTopic("create-topics-twice", 1, 1)))
	t.Ask("named twice beside a good one", 7, createTopics(newTopic("create-topics-twice", 1, 1), newTopic("create-topics-twice", 1, 1),
		newTopic("create-topics-once", 1, 1)), manySettings)
	t.Ask("two that collide with each other", 7, createTopics(newTopic("create-topics.pair", 1, 1), newTopic("create-topics_pair", 1, 1)), manySettings)
}

func createTopicsSizes(t *Talk) {
	for _, size := range []struct {
		name       string
		partitions int32
		replicas   int16
	}{
		{"no partition", 0, 1}, {"-2 partitions", -2, 1}, {"no replica", 1, 0}, {"-2 replicas", 1, -2}, {"3 replicas", 1, 3}, {"no partition, no replica", 0, 0},
	} {
		check := createTopics(newTopic("create-topics-sizes", size.partitions, size.replicas))
		check.ValidateOnly = true
		t.Ask(size.name, 7, check, manySettings)
		t.Ask(size.name, 1, check, manySettings)
	}
	check := createTopics(newTopic("create-topics-sizes", -1, -1))
	check.ValidateOnly = true
	t.AskEach("default sizes", 1, 7, check, manySettings)
}

func createTopicsAssignments(t *Talk) {
	gap := assigned([]int32{0}, []int32{0})
	gap.ReplicaAssignment[1].Partition = 2
	twice := assigned([]int32{0}, []int32{0})
	twice.ReplicaAssignment[1].Partition = 0
	counted := assigned([]int32{0})
	counted.NumPartitions = 1
	replicated := assigned([]int32{0})
	replicated.ReplicationFactor = 1
	for _, c := range []struct {
		name  string
		topic kmsg.CreateTopicsRequestTopic
	}{
		{"assigned to this broker", assigned([]int32{0}, []int32{0})},
		{"assigned with a gap", gap},
		{"a partition assigned twice", twice},
		{"assigned and counted", counted},
		{"assigned and replicated", replicated},
		{"assigned to an unknown broker", assigned([]int32{7})},
		{"assigned to one broker twice", assigned([]int32{0, 0})},
		{"assigned to nobody", assigned([]int32{})},
		{"assigned to a negative broker", assigned([]int32{-1})},
		{"assigned to this broker and an unknown one", assigned([]int32{0, 1})},
		{"assigned to different numbers of brokers", assigned([]int32{0}, []int32{0, 1})},
	} {
		check := createTopics(c.topic)
		check.ValidateOnly = true
		t.Ask(c.name, 7, check, manySettings)
	}
}

func createTopicsSettings(t *Talk) {
	for _, setting := range []string{
		"no.such.key=1", "retention.ms=soon", "retention.ms=", "retention.ms=-2", "retention.ms= 5 ", "retention.bytes=-2", "cleanup.policy=", "cleanup.policy=shred",
		"cleanup.policy=compact,delete", "cleanup.policy=delete,delete", "compression.type=rar", "compression.type=GZIP", "segment.bytes=13", "segment.bytes=14",
		"segment.bytes=2147483648", "preallocate=TRUE", "preallocate=yes", "min.insync.replicas=0", "min.insync.replicas=5", "max.message.bytes=-1",
		"message.timestamp.type=Never", "message.format.version=3.0", "message.format.version=9.9", "min.cleanable.dirty.ratio=1.5", "min.cleanable.dirty.ratio=0.3",
		"leader.replication.throttled.replicas=0:0", "leader.replication.throttled.replicas=x", "leader.replication.throttled.replicas=*",
		"flush.messages=0", "flush.ms=-1", "index.interval.bytes=-1", "file.delete.delay.ms=-1", "remote.storage.enable=true", "remote.storage.enable=false",
		"local.retention.ms=-2", "local.retention.ms=99999999999", "unclean.leader.election.enable=maybe", "message.timestamp.difference.max.ms=5",
		"message.timestamp.before.max.ms=-1", "message.timestamp.after.max.ms=0", "delete.retention.ms=-1", "max.compaction.lag.ms=0", "segment.ms=0", "segment.jitter.ms=-1",
		"message.downconversion.enable=false", "log.retention.ms=5",
	} {
		check := createTopics(newTopic("create-topics-checked", 1, 1, setting))
		check.ValidateOnly = true
		t.Ask("with "+setting, 6, check, manySettings)
	}
	null := newTopic("create-topics-checked", 1, 1)
	null.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: "retention.ms"}}
	t.Ask("with a null setting", 7, createTopics(null))
	t.Ask("with a setting named twice", 7, createTopics(newTopic("create-topics-repeated", 1, 1, "retention.ms=5", "retention.ms=6")), manySettings)
	contradiction := createTopics(newTopic("create-topics-checked", 1, 1, "min.compaction.lag.ms=10", "max.compaction.lag.ms=5"))
	contradiction.ValidateOnly = true
	t.Ask("with a minimum above the maximum", 7, contradiction, manySettings)
}
