package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func describeConfigs(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = []kmsg.DescribeConfigsRequestResource{{ResourceType: kind, ResourceName: name, ConfigNames: keys}}
	return request
}

func describeConfigsScript(t *Talk) {
	const name = "describe-configs"
	t.Topic(name, 1, "retention.ms=86400000", "cleanup.policy=compact,delete", "segment.bytes=1048576")
	t.AskEach("every key of a topic", 0, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name))
	full := describeConfigs(kmsg.ConfigResourceTypeTopic, name)
	full.IncludeSynonyms, full.IncludeDocumentation = true, true
	t.AskEach("synonyms and documentation", 1, 4, full)
	t.AskEach("some keys of a topic", 0, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms", "segment.ms", "no.such.key"))
	none := describeConfigs(kmsg.ConfigResourceTypeTopic, name)
	none.Resources[0].ConfigNames = []string{}
	t.AskEach("an empty list of keys", 0, 4, none, "Resources[*].Configs[*]")
	t.AskEach("an unknown topic", 0, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, "describe-configs-unknown"))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, invalidNames[what]))
	}
	t.AskEach("some keys of this broker", 0, 4, describeConfigs(kmsg.ConfigResourceTypeBroker, "0", "num.partitions", "message.max.bytes",
		"auto.create.topics.enable", "default.replication.factor", "min.insync.replicas", "log.retention.hours", "log.retention.ms", "no.such.key"))
	for _, other := range []string{"7", "-1", "x", "0x0", " 0"} {
		t.Ask("another broker, "+strconv.Quote(other), 4, describeConfigs(kmsg.ConfigResourceTypeBroker, other, "num.partitions"))
	}
	t.Ask("the defaults of all brokers", 4, describeConfigs(kmsg.ConfigResourceTypeBroker, ""))
	for _, kind := range []int8{0, 1, 3, 17, 127, -1} {
		t.Ask("a resource of type "+strconv.Itoa(int(kind)), 4, describeConfigs(kmsg.ConfigResourceType(kind), name))
	}
	t.Ask("loggers of another broker", 4, describeConfigs(kmsg.ConfigResourceTypeBrokerLogger, "7"))
	t.AskEach("no resource", 0, 4, kmsg.NewPtrDescribeConfigsRequest())
	twice := describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms")
	twice.Resources = append(twice.Resources, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "segment.ms").Resources...)
	t.Ask("a topic twice", 4, twice)
	t.Ask("a key twice", 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms", "retention.ms"))
}
