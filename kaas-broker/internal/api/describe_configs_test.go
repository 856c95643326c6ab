package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Short names of the resource types.
const (
	ofTopic   = kmsg.ConfigResourceTypeTopic
	ofBroker  = kmsg.ConfigResourceTypeBroker
	ofLogger  = kmsg.ConfigResourceTypeBrokerLogger
	ofMetrics = kmsg.ConfigResourceTypeClientMetrics
)

func describeResource(kind kmsg.ConfigResourceType, name string, keys ...string) kmsg.DescribeConfigsRequestResource {
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kind, name, keys
	return resource
}

func describeRequest(version int16, resources ...kmsg.DescribeConfigsRequestResource) *kmsg.DescribeConfigsRequest {
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Version, request.IncludeSynonyms, request.IncludeDocumentation, request.Resources = version, true, true, resources
	return request
}

func (b *bench) describe(request *kmsg.DescribeConfigsRequest) []kmsg.DescribeConfigsResponseResource {
	b.t.Helper()
	return ask[*kmsg.DescribeConfigsResponse](b, request).Resources
}

func configLine(c kmsg.DescribeConfigsResponseResourceConfig) string {
	line := fmt.Sprintf("%s=%s source %d type %d", c.Name, text(c.Value), c.Source, c.ConfigType)
	for _, s := range c.ConfigSynonyms {
		line += fmt.Sprintf(" [%s=%s %d]", s.Name, text(s.Value), s.Source)
	}
	return line
}

func TestDescribeConfigsOfTopicsEveryVersion(t *testing.T) {
	b := newBench(t, brokerValues(t, "log.segment.bytes=1000000"))
	b.topic("t", 1, "cleanup.policy", "compact, delete")
	want := []string{
		"cleanup.policy=compact,delete source 1 type 7 [cleanup.policy=compact,delete 1] [log.cleanup.policy=delete 5]",
		"retention.ms=604800000 source 5 type 5",
		"segment.bytes=1000000 source 4 type 3 [log.segment.bytes=1000000 4] [log.segment.bytes=1073741824 5]",
	}
	for version := range int16(5) {
		rows := b.describe(describeRequest(version, describeResource(ofTopic, "t", "segment.bytes", "nope", "cleanup.policy", "retention.ms", "retention.ms")))
		if rows[0].ErrorCode != 0 || rows[0].ResourceType != ofTopic || rows[0].ResourceName != "t" {
			t.Fatalf("v%d: %+v", version, rows[0])
		}
		var got []string
		for _, config := range rows[0].Configs {
			if config.IsDefault || config.ReadOnly || config.IsSensitive || (version >= 3) != (config.Documentation != nil) {
				t.Errorf("v%d: %+v", version, config)
			}
			got = append(got, configLine(config))
		}
		expected := slices.Clone(want)
		for i := range expected {
			if version < 3 {
				expected[i] = strings.NewReplacer("type 7", "type 0", "type 5", "type 0", "type 3", "type 0").Replace(expected[i])
			}
			if version < 1 {
				expected[i], _, _ = strings.Cut(expected[i], " ")
				expected[i] += " source -1 type 0"
			}
		}
		if !slices.Equal(got, expected) {
			t.Errorf("v%d:\n%q, want\n%q", version, got, expected)
		}
	}
}

func TestDescribeConfigsLeavesOutWhatIsNotAskedFor(t *testing.T) {
	b := newBench(t)
	b.topic("t", 1)
	request := describeRequest(4, describeResource(ofTopic, "t"))
	request.IncludeDocumentation, request.IncludeSynonyms = false, false
	for _, config := range b.describe(request)[0].Configs {
		if config.Documentation != nil || len(config.ConfigSynonyms) > 0 {
			t.Errorf("%+v", config)
		}
	}
}

func TestDescribeConfigsTables(t *testing.T) {
	b := newBench(t, brokerValues(t, "ssl.key.password=hidden", "num.partitions=3"))
	b.topic("t", 1)
	rows := b.describe(describeRequest(4, describeResource(ofTopic, "t"), describeResource(ofTopic, "t", []string{}...), describeResource(ofBroker, "7")))
	for i, want := range []int{31, 31, 285} {
		if got := len(rows[i].Configs); got != want {
			t.Errorf("%s: %d keys, want %d", rows[i].ResourceName, got, want)
		}
		for _, config := range rows[i].Configs {
			if config.Documentation == nil || *config.Documentation == "" {
				t.Errorf("%s has no documentation", config.Name)
			}
		}
	}
	for _, config := range rows[2].Configs {
		switch {
		case !config.ReadOnly:
			t.Errorf("%s can be changed", config.Name)
		case config.IsSensitive && config.Value != nil:
			t.Errorf("%s is told: %s", config.Name, *config.Value)
		case config.Name == "ssl.key.password" && (!config.IsSensitive || config.Source != kmsg.ConfigSourceStaticBrokerConfig):
			t.Errorf("%+v", config)
		case config.Name == "num.partitions" && configLine(config) != "num.partitions=3 source 4 type 3 [num.partitions=3 4] [num.partitions=1 5]":
			t.Error(configLine(config))
		}
	}
}

func TestDescribeConfigsJudges(t *testing.T) {
	cases := []struct {
		name     string
		resource kmsg.DescribeConfigsRequestResource
		code     int16
		configs  int
		says     string
	}{
		{"topic", describeResource(ofTopic, "t", "retention.ms"), 0, 1, ""},
		{"only unknown keys", describeResource(ofTopic, "t", "nope", ""), 0, 0, ""},
		{"unknown topic", describeResource(ofTopic, "nope"), 3, 0, ""},
		{"invalid name", describeResource(ofTopic, ".."), 17, 0, ".."},
		{"no name", describeResource(ofTopic, ""), 17, 0, "empty"},
		{"name too long", describeResource(ofTopic, strings.Repeat("a", 250)), 17, 0, "250"},
		{"Kafka's metadata log", describeResource(ofTopic, "__cluster_metadata"), 3, 0, ""},
		{"this broker", describeResource(ofBroker, "7", "broker.id", "nope"), 0, 1, ""},
		{"all brokers", describeResource(ofBroker, ""), 0, 0, ""},
		{"another broker", describeResource(ofBroker, "8"), 42, 0, "broker 8"},
		{"negative broker", describeResource(ofBroker, "-1"), 42, 0, ""},
		{"broker by another name", describeResource(ofBroker, "seven"), 42, 0, "number"},
		{"broker beyond 32 bits", describeResource(ofBroker, "4294967303"), 42, 0, "number"},
		{"loggers", describeResource(ofLogger, "7"), 0, 0, ""},
		{"loggers of another broker", describeResource(ofLogger, "8"), 42, 0, "broker 8"},
		{"loggers of all brokers", describeResource(ofLogger, ""), 42, 0, ""},
		{"client metrics", describeResource(ofMetrics, "subscription"), 0, 0, ""},
		{"client metrics without a name", describeResource(ofMetrics, ""), 42, 0, "name"},
		{"unknown type", describeResource(0, "t"), 42, 0, "type 0"},
		{"no such type", describeResource(99, "t"), 42, 0, "type 99"},
		{"negative type", describeResource(-1, "t"), 42, 0, "type -1"},
		{"type of a later Kafka", describeResource(32, "group"), 42, 0, "type 32"},
	}
	b := newBench(t)
	b.topic("t", 1)
	var all []kmsg.DescribeConfigsRequestResource
	for _, c := range cases {
		all = append(all, c.resource)
	}
	rows := b.describe(describeRequest(4, all...))
	if len(rows) != len(cases) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			row := rows[i]
			if row.ErrorCode != c.code || len(row.Configs) != c.configs || !strings.Contains(text(row.ErrorMessage), c.says) {
				t.Errorf("error %d %s, %d configurations", row.ErrorCode, text(row.ErrorMessage), len(row.Configs))
			}
			if c.code == 0 && text(row.ErrorMessage) != "" {
				t.Errorf("message %s", text(row.ErrorMessage))
			}
		})
	}
}

func TestDescribeConfigsRepeated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes most of a minute with the race detector")
	}
	b := newBench(t)
	b.topic("t", 1)
	request := describeRequest(4)
	for range 5000 {
		request.Resources = append(request.Resources, describeResource(ofBroker, "7"))
	}
	rows := b.describe(request)
	if rows[1].ErrorCode != 0 || len(rows[1].Configs) != 285 {
		t.Errorf("second row: error %d", rows[1].ErrorCode)
	}
	if last := rows[len(rows)-1]; last.ErrorCode != 42 || len(last.Configs) > 0 {
		t.Errorf("last row: error %d, %d configurations", last.ErrorCode, len(last.Configs))
	}
}

func TestDescribeConfigsAuthorization(t *testing.T) {
	b := newBench(t, without("DESCRIBE_CONFIGS TOPIC t", "DESCRIBE_CONFIGS TOPIC absent", "DESCRIBE_CONFIGS CLUSTER kafka-cluster"))
	b.topic("t", 1)
	b.topic("u", 1)
	rows := b.describe(describeRequest(4, describeResource(ofTopic, "t"), describeResource(ofTopic, "absent"), describeResource(ofTopic, "u"),
		describeResource(ofBroker, "7"), describeResource(ofBroker, ""), describeResource(ofLogger, "7"), describeResource(ofMetrics, "m")))
	var codes []int16
	for _, row := range rows {
		codes = append(codes, row.ErrorCode)
		if row.ErrorCode != 0 && len(row.Configs) > 0 {
			t.Errorf("%s: told although refused", row.ResourceName)
		}
	}
	if fmt.Sprint(codes) != "[29 29 0 31 31 31 31]" {
		t.Errorf("codes %v", codes)
	}
}
