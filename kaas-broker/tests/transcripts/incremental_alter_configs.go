package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The operations of IncrementalAlterConfigs.
const (
	setKey      = kmsg.IncrementalAlterConfigOpSet
	deleteKey   = kmsg.IncrementalAlterConfigOpDelete
	appendTo    = kmsg.IncrementalAlterConfigOpAppend
	subtractKey = kmsg.IncrementalAlterConfigOpSubtract
)

// alteration is one operation; a nil value is null.
type alteration struct {
	operation kmsg.IncrementalAlterConfigOp
	key       string
	value     *string
}

func alterConfigs(kind kmsg.ConfigResourceType, name string, alterations ...alteration) *kmsg.IncrementalAlterConfigsRequest {
	resource := kmsg.IncrementalAlterConfigsRequestResource{ResourceType: kind, ResourceName: name}
	for _, a := range alterations {
		resource.Configs = append(resource.Configs, kmsg.IncrementalAlterConfigsRequestResourceConfig{Name: a.key, Op: a.operation, Value: a.value})
	}
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = []kmsg.IncrementalAlterConfigsRequestResource{resource}
	return request
}

func incrementalAlterConfigsScript(t *Talk) {
	const name = "incremental-alter-configs"
	t.Topic(name, 1, "retention.ms=86400000")
	check := func(what string) {
		t.Settle()
		t.Ask("settings after "+what, 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms", "cleanup.policy", "segment.ms", "flush.messages",
			"follower.replication.throttled.replicas"))
	}
	for _, step := range []struct {
		name        string
		alterations []alteration
	}{
		{"set", []alteration{{setKey, "retention.ms", new("1000")}, {setKey, "segment.ms", new(" 2000 ")}}},
		{"set to null", []alteration{{setKey, "retention.ms", nil}}},
		{"set to nothing", []alteration{{setKey, "retention.ms", new("")}}},
		{"set to the default", []alteration{{setKey, "flush.messages", new("9223372036854775807")}}},
		{"deleted", []alteration{{deleteKey, "segment.ms", nil}}},
		{"deleted with a value", []alteration{{deleteKey, "retention.ms", new("7")}}},
		{"deleted though it was not set", []alteration{{deleteKey, "max.message.bytes", nil}}},
		{"deleted though unknown", []alteration{{deleteKey, "no.such.key", nil}}},
		{"set though unknown", []alteration{{setKey, "no.such.key", new("1")}}},
		{"appended though unknown", []alteration{{appendTo, "no.such.key", new("1")}}},
		{"appended", []alteration{{appendTo, "cleanup.policy", new("compact")}}},
		{"appended again", []alteration{{appendTo, "cleanup.policy", new("compact")}}},
		{"appended a bad value", []alteration{{appendTo, "cleanup.policy", new("shred")}}},
		{"appended null", []alteration{{appendTo, "cleanup.policy", nil}}},
		{"subtracted", []alteration{{subtractKey, "cleanup.policy", new("delete")}}},
		{"subtracted again", []alteration{{subtractKey, "cleanup.policy", new("delete")}}},
		{"subtracted everything", []alteration{{subtractKey, "cleanup.policy", new("compact")}}},
		{"appended two", []alteration{{appendTo, "follower.replication.throttled.replicas", new("0:0,1:0")}}},
		{"appended to what is no list", []alteration{{appendTo, "retention.ms", new("5")}}},
		{"subtracted from what is no list", []alteration{{subtractKey, "retention.ms", new("5")}}},
		{"an invalid value", []alteration{{setKey, "retention.ms", new("soon")}}},
		{"a good and an invalid value", []alteration{{setKey, "segment.ms", new("5000")}, {setKey, "retention.ms", new("soon")}}},
		{"a key twice", []alteration{{setKey, "segment.ms", new("5")}, {setKey, "segment.ms", new("6")}}},
		{"an operation that does not exist", []alteration{{9, "segment.ms", new("5")}}},
		{"an operation of -1", []alteration{{-1, "segment.ms", new("5")}}},
		{"nothing to do", nil},
	} {
		validated := alterConfigs(kmsg.ConfigResourceTypeTopic, name, step.alterations...)
		validated.ValidateOnly = true
		t.AskEach(step.name+", only validated", 0, 1, validated)
		t.Ask(step.name, 1, alterConfigs(kmsg.ConfigResourceTypeTopic, name, step.alterations...))
		check(step.name)
	}
	incrementalAlterResources(t, name)
}

func incrementalAlterResources(t *Talk, name string) {
	set := alteration{setKey, "retention.ms", new("5")}
	t.AskEach("an unknown topic", 0, 1, alterConfigs(kmsg.ConfigResourceTypeTopic, "incremental-alter-configs-unknown", set))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 1, alterConfigs(kmsg.ConfigResourceTypeTopic, invalidNames[what], set))
	}
	for _, kind := range []int8{0, 1, 3, 17, 127, -1} {
		t.Ask("a resource of type "+strconv.Itoa(int(kind)), 1, alterConfigs(kmsg.ConfigResourceType(kind), name, set))
	}
	t.Ask("another broker", 1, alterConfigs(kmsg.ConfigResourceTypeBroker, "7", set))
	t.Ask("a broker that is no number", 1, alterConfigs(kmsg.ConfigResourceTypeBroker, "x", set))
	t.Ask("a read-only key of this broker", 1, alterConfigs(kmsg.ConfigResourceTypeBroker, "0", alteration{setKey, "log.dirs", new("/tmp")}))
	twice := alterConfigs(kmsg.ConfigResourceTypeTopic, name, set)
	twice.Resources = append(twice.Resources, twice.Resources[0])
	t.AskEach("a topic twice", 0, 1, twice)
	both := alterConfigs(kmsg.ConfigResourceTypeTopic, name, set)
	both.Resources = append(both.Resources, alterConfigs(kmsg.ConfigResourceTypeTopic, "incremental-alter-configs-unknown", set).Resources...)
	t.Ask("a known and an unknown topic", 1, both)
	t.AskEach("no resource", 0, 1, kmsg.NewPtrIncrementalAlterConfigsRequest())
}
