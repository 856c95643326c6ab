package api_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// change is one operation on one key.
type change struct {
	operation kmsg.IncrementalAlterConfigOp
	key       string
	value     *string
}

func set(key, value string) change  { return change{kmsg.IncrementalAlterConfigOpSet, key, &value} }
func unset(key string) change       { return change{kmsg.IncrementalAlterConfigOpDelete, key, nil} }
func plus(key, value string) change { return change{kmsg.IncrementalAlterConfigOpAppend, key, &value} }

func minus(key, value string) change {
	return change{kmsg.IncrementalAlterConfigOpSubtract, key, &value}
}

func alterTopic(name string, c ...change) kmsg.IncrementalAlterConfigsRequestResource {
	return alterResource(ofTopic, name, c...)
}

func alterResource(kind kmsg.ConfigResourceType, name string, changes ...change) kmsg.IncrementalAlterConfigsRequestResource {
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kind, name
	for _, c := range changes {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Op, config.Name, config.Value = c.operation, c.key, c.value
		resource.Configs = append(resource.Configs, config)
	}
	return resource
}

func alterRequest(version int16, resources ...kmsg.IncrementalAlterConfigsRequestResource) *kmsg.IncrementalAlterConfigsRequest {
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Version, request.Resources = version, resources
	return request
}

func (b *bench) alter(request *kmsg.IncrementalAlterConfigsRequest) []kmsg.IncrementalAlterConfigsResponseResource {
	b.t.Helper()
	return ask[*kmsg.IncrementalAlterConfigsResponse](b, request).Resources
}

// own are the topic's own values.
func (b *bench) own(topic string) string {
	b.t.Helper()
	found, known := b.catalog.Snapshot().ByName(topic)
	if !known {
		b.t.Fatalf("topic %s is gone", topic)
	}
	return fmt.Sprint(found.Overrides)
}

func TestIncrementalAlterConfigsEveryVersion(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	for version := range int16(2) {
		row := b.alter(alterRequest(version, alterTopic("t", set("retention.ms", fmt.Sprint(1000+int(version))))))[0]
		if row.ErrorCode != 0 || row.ErrorMessage != nil || row.ResourceName != "t" || row.ResourceType != ofTopic {
			t.Errorf("v%d: %+v", version, row)
		}
	}
	if got := b.own("t"); got != "map[retention.ms:1001]" {
		t.Error(got)
	}
	if rows := b.alter(alterRequest(1)); len(rows) != 0 {
		t.Errorf("answer to nothing: %+v", rows)
	}
}

func TestIncrementalAlterConfigsReachesThePartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		topic := b.topic("t", 1)
		b.alter(alterRequest(1, alterTopic("t", set("retention.ms", "1001"))))
		synctest.Wait()
		if got := b.partition(topic, 0).Config().RetentionAge; got != 1001*time.Millisecond {
			t.Errorf("retention %s", got)
		}
	})
}

func TestIncrementalAlterConfigsOfTopics(t *testing.T) {
	cases := []struct {
		name    string
		before  []string // pairs
		changes []change
		code    int16
		says    string
		after   string
	}{
		{"set", nil, []change{set("retention.ms", "5"), set("segment.ms", "7")}, 0, "", "map[retention.ms:5 segment.ms:7]"},
		{"set again", []string{"retention.ms", "1", "segment.ms", "7"}, []change{set("retention.ms", "5")}, 0, "", "map[retention.ms:5 segment.ms:7]"},
		{"boolean in capitals", nil, []change{set("preallocate", "TRUE")}, 0, "", "map[preallocate:TRUE]"},
		{"nothing", []string{"retention.ms", "1"}, nil, 0, "", "map[retention.ms:1]"},
		{"delete", []string{"retention.ms", "1"}, []change{unset("retention.ms")}, 0, "", "map[]"},
		{"delete what is not set", nil, []change{unset("retention.ms")}, 0, "", "map[]"},
		{"delete what does not exist", nil, []change{unset("nope")}, 0, "", "map[]"},
		{"append", []string{"cleanup.policy", "compact"}, []change{plus("cleanup.policy", "delete")}, 0, "", "map[cleanup.policy:compact,delete]"},
		{"append to the default", nil, []change{plus("cleanup.policy", "compact")}, 0, "", "map[cleanup.policy:delete,compact]"},
		{"append what is there", nil, []change{plus("cleanup.policy", "delete,delete")}, 0, "", "map[cleanup.policy:delete]"},
		{"append an invalid element", nil, []change{plus("cleanup.policy", "bad")}, 40, "bad", "map[]"},
		{"append to a number", nil, []change{plus("retention.ms", "5")}, 40, "retention.ms", "map[]"},
		{"append to an unknown key", nil, []change{plus("nope", "5")}, 40, "nope", "map[]"},
		{"subtract", []string{"cleanup.policy", "compact,delete"}, []change{minus("cleanup.policy", "delete")}, 0, "", "map[cleanup.policy:compact]"},
		{"subtract the last", []string{"cleanup.policy", "delete"}, []change{minus("cleanup.policy", "delete")}, 0, "", "map[cleanup.policy:]"},
		{"subtract what is not there", []string{"cleanup.policy", "delete"}, []change{minus("cleanup.policy", "compact")}, 0, "", "map[cleanup.policy:delete]"},
		{"subtract from a number", nil, []change{minus("retention.ms", "5")}, 40, "retention.ms", "map[]"},
		{"set an unknown key", nil, []change{set("retention.mss", "5")}, 40, "did you mean retention.ms", "map[]"},
		{"set a bad value", nil, []change{set("retention.ms", "abc")}, 40, "Invalid value abc for configuration retention.ms: Not a number of type LONG", "map[]"},
		{"enumerations are exact", nil, []change{set("compression.type", "GZIP")}, 40, "gzip", "map[]"},
		{"no tiered storage", nil, []change{set("remote.storage.enable", "true")}, 40, "", "map[]"},
		{"all or nothing", []string{"retention.ms", "1"}, []change{set("segment.ms", "5"), unset("retention.ms"), set("retention.bytes", "x")}, 40, "", "map[retention.ms:1]"},
		{"contradiction", nil, []change{set("min.compaction.lag.ms", "10"), set("max.compaction.lag.ms", "5")}, 40, "max.compaction.lag.ms", "map[]"},
		{"contradiction with what is set", []string{"max.compaction.lag.ms", "5"}, []change{set("min.compaction.lag.ms", "10")}, 40, "", "map[max.compaction.lag.ms:5]"},
		{"null", nil, []change{{kmsg.IncrementalAlterConfigOpSet, "retention.ms", nil}}, 42, "retention.ms", "map[]"},
		{"append null", nil, []change{{kmsg.IncrementalAlterConfigOpAppend, "cleanup.policy", nil}}, 42, "cleanup.policy", "map[]"},
		{"key twice", nil, []change{set("retention.ms", "5"), unset("retention.ms")}, 42, "twice", "map[]"},
		{"unknown operation", nil, []change{{7, "retention.ms", nil}}, 42, "operation 7", "map[]"},
		{"negative operation", nil, []change{{-1, "retention.ms", nil}}, 42, "operation -1", "map[]"},
	}
	b := newBench(t)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			topic := fmt.Sprintf("t%d", i)
			b.topic(topic, 1, c.before...)
			before := b.own(topic)
			request := alterRequest(1, alterTopic(topic, c.changes...))
			for _, request.ValidateOnly = range []bool{true, false} {
				row := b.alter(request)[0]
				if row.ErrorCode != c.code || !strings.Contains(text(row.ErrorMessage), c.says) {
					t.Errorf("error %d %s", row.ErrorCode, text(row.ErrorMessage))
				}
				if request.ValidateOnly && b.own(topic) != before {
					t.Errorf("validate only left %s", b.own(topic))
				}
			}
			if got := b.own(topic); got != c.after {
				t.Errorf("own values %s, want %s", got, c.after)
			}
		})
	}
}

func TestIncrementalAlterConfigsResources(t *testing.T) {
	good := set("retention.ms", "5")
	cases := []struct {
		name     string
		resource kmsg.IncrementalAlterConfigsRequestResource
		code     int16
		says     string
	}{
		{"unknown topic", alterTopic("nope", good), 3, "nope"},
		{"unknown topic without changes", alterTopic("none"), 3, ""},
		{"unknown topic, bad value", alterTopic("nil", set("retention.ms", "x")), 40, ""},
		{"unknown topic, null", alterTopic("null", change{0, "retention.ms", nil}), 42, ""},
		{"Kafka's metadata log", alterTopic("__cluster_metadata", good), 3, ""},
		{"invalid name", alterTopic("..", good), 17, ""},
		{"defaults of topics", alterTopic("", good), 42, ""},
		{"broker", alterResource(ofBroker, "7", set("num.partitions", "3")), 42, "num.partitions"},
		{"all brokers", alterResource(ofBroker, "", set("log.retention.ms", "3")), 42, "log.retention.ms"},
		{"another broker", alterResource(ofBroker, "1", set("log.retention.ms", "3")), 42, "broker 1"},
		{"broker by another name", alterResource(ofBroker, "x", set("log.retention.ms", "3")), 42, "number"},
		{"logger", alterResource(ofLogger, "7", set("kafka", "INFO")), 40, "kafka"},
		{"logger of another broker", alterResource(ofLogger, "1", set("kafka", "INFO")), 42, "broker 1"},
		{"logger of no broker", alterResource(ofLogger, "", set("kafka", "INFO")), 42, ""},
		{"client metrics", alterResource(ofMetrics, "s", set("metrics", "x")), 42, "not supported"},
		{"client metrics without a name", alterResource(ofMetrics, "", set("metrics", "x")), 42, "name"},
		{"unknown type", alterResource(0, "t", good), 42, "type 0"},
		{"no such type", alterResource(99, "t", good), 42, "type 99"},
		{"a good one among them", alterTopic("t", good), 0, ""},
	}
	b := newBench(t)
	b.topic("t", 1)
	var all []kmsg.IncrementalAlterConfigsRequestResource
	for _, c := range cases {
		all = append(all, c.resource)
	}
	rows := b.alter(alterRequest(1, all...))
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if row := rows[i]; row.ErrorCode != c.code || !strings.Contains(text(row.ErrorMessage), c.says) {
				t.Errorf("error %d %s", row.ErrorCode, text(row.ErrorMessage))
			}
		})
	}
	if got := b.own("t"); got != "map[retention.ms:5]" {
		t.Error(got)
	}
	t.Run("nothing to undo", func(t *testing.T) {
		if row := b.alter(alterRequest(1, alterResource(ofBroker, "7", unset("log.retention.ms"))))[0]; row.ErrorCode != 0 {
			t.Errorf("error %d", row.ErrorCode)
		}
	})
}

func TestIncrementalAlterConfigsResourceTwice(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	b.topic("u", 1)
	rows := b.alter(alterRequest(1, alterTopic("t", set("retention.ms", "1")), alterTopic("u", set("retention.ms", "2")), alterTopic("t", set("segment.ms", "3"))))
	if rows[0].ErrorCode != 42 || rows[1].ErrorCode != 0 || rows[2].ErrorCode != 42 {
		t.Errorf("%+v", rows)
	}
	if b.own("t") != "map[]" || b.own("u") != "map[retention.ms:2]" {
		t.Error(b.own("t"), b.own("u"))
	}
}

func TestIncrementalAlterConfigsAuthorization(t *testing.T) {
	b := newBench(t, without("ALTER_CONFIGS TOPIC t", "ALTER_CONFIGS TOPIC absent", "ALTER_CONFIGS CLUSTER kafka-cluster"))
	b.topic("t", 1)
	var codes []int16
	for _, row := range b.alter(alterRequest(1, alterTopic("t", set("retention.ms", "1")), alterTopic("absent", set("retention.ms", "x")),
		alterResource(ofBroker, "7"), alterResource(ofLogger, "7"), alterResource(ofMetrics, "m"))) {
		codes = append(codes, row.ErrorCode)
	}
	if fmt.Sprint(codes) != "[29 29 31 31 31]" || b.own("t") != "map[]" {
		t.Errorf("codes %v, own values %s", codes, b.own("t"))
	}
}
