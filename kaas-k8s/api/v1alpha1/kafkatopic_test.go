package v1alpha1_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

func decodeTopic(t *testing.T, manifest string) *v1alpha1.KafkaTopic {
	t.Helper()
	topic := new(v1alpha1.KafkaTopic)
	if err := yaml.UnmarshalStrict([]byte(manifest), topic); err != nil {
		t.Fatalf("decode: %v", err)
	}
	return topic
}

const fullTopic = `apiVersion: kaas.rs/v1alpha1
kind: KafkaTopic
metadata:
  creationTimestamp: null
  name: orders
  namespace: kafka
spec:
  config:
    cleanupPolicy: compact,delete
    min.cleanable.dirty.ratio: 0.25
    preallocate: false
    retention.bytes: "-1"
    retentionMs: 604800000
  partitions: 12
  replicas: 3
  storage:
    volumes:
    - premium
  topicName: Orders.v1
status:
  conditions:
  - lastTransitionTime: "2026-01-02T03:04:05Z"
    message: ""
    reason: Created
    status: "True"
    type: Ready
  observedGeneration: 4
  partitionCount: 12
  partitionsOutsideSpec: 1
  topicId: 4f0a1f6e-9d55-4c39-9f6d-0f6d3a8a1c11
  topicName: Orders.v1
  volumeAssignments:
    "0": premium
`

func TestTopicKeepsItsManifest(t *testing.T) {
	for name, manifest := range map[string]string{
		"every field": fullTopic,
		"least": `apiVersion: kaas.rs/v1alpha1
kind: KafkaTopic
metadata:
  creationTimestamp: null
  name: a
spec: {}
`,
		"labels instead of volumes": `apiVersion: kaas.rs/v1alpha1
kind: KafkaTopic
metadata:
  creationTimestamp: null
  name: a
spec:
  partitions: 1
  storage:
    volumeSelector:
      tier: fast
`,
	} {
		t.Run(name, func(t *testing.T) {
			written, err := yaml.Marshal(decodeTopic(t, manifest))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(manifest, "  creationTimestamp: null\n", "")
			if got := strings.ReplaceAll(string(written), "  creationTimestamp: null\n", ""); got != want {
				t.Errorf("written:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestTopicName(t *testing.T) {
	topic := decodeTopic(t, fullTopic)
	if got := topic.TopicName(); got != "Orders.v1" {
		t.Errorf("with spec.topicName: %q", got)
	}
	topic.Spec.TopicName = ""
	if got := topic.TopicName(); got != "orders" {
		t.Errorf("without spec.topicName: %q", got)
	}
}

func TestOverrides(t *testing.T) {
	cases := []struct {
		name, config string
		want         map[string]string
		twice        bool
	}{
		{
			"fields", "{retentionMs: 5, segmentBytes: 100, cleanupPolicy: compact}",
			map[string]string{"retention.ms": "5", "segment.bytes": "100", "cleanup.policy": "compact"},
			false,
		},
		{
			"every field of the table", "{retentionMs: 1, retentionBytes: 2, segmentBytes: 3, segmentMs: 4, cleanupPolicy: delete," +
				" minCompactionLagMs: 5, deleteRetentionMs: 6, flushMessages: 7}",
			map[string]string{
				"retention.ms": "1", "retention.bytes": "2", "segment.bytes": "3", "segment.ms": "4",
				"cleanup.policy": "delete", "min.compaction.lag.ms": "5", "delete.retention.ms": "6", "flush.messages": "7",
			},
			false,
		},
		{
			"dotted", `{retention.ms: "5", preallocate: true, min.cleanable.dirty.ratio: 0.5}`,
			map[string]string{"retention.ms": "5", "preallocate": "true", "min.cleanable.dirty.ratio": "0.5"},
			false,
		},
		{"mixed", "{retentionMs: -1, segment.ms: 7}", map[string]string{"retention.ms": "-1", "segment.ms": "7"}, false},
		{"null is not set", "{retentionMs: null}", map[string]string{}, false},
		{"unknown names pass", "{no.such.key: 1}", map[string]string{"no.such.key": "1"}, false},
		{"a large number keeps its digits", "{flush.ms: 9223372036854775807}", map[string]string{"flush.ms": "9223372036854775807"}, false},
		{"an exponent is written out", "{retention.ms: 6.048e+08}", map[string]string{"retention.ms": "604800000"}, false},
		{"two spellings", "{retentionMs: 5, retention.ms: 6}", nil, true},
		{"none", "null", map[string]string{}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			topic := decodeTopic(t, "spec: {config: "+c.config+"}")
			got, err := topic.Spec.Config.Overrides()
			if c.twice {
				if !errors.Is(err, v1alpha1.ErrConfigSpelling) {
					t.Fatalf("error %v, want ErrConfigSpelling", err)
				}
				return
			}
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestConfigRefusesStructures(t *testing.T) {
	for _, config := range []string{"{cleanup.policy: [compact]}", "{retention.ms: {a: 1}}"} {
		if err := yaml.Unmarshal([]byte("spec: {config: "+config+"}"), new(v1alpha1.KafkaTopic)); err == nil {
			t.Errorf("%s was read", config)
		}
	}
}

func TestSetOverridesKeepsSpellings(t *testing.T) {
	config := decodeTopic(t, "spec: {config: {retentionMs: 5, segmentBytes: 100, preallocate: true, flushMessages: 1, flush.messages: 2}}").Spec.Config
	config.SetOverrides(map[string]string{"retention.ms": "5", "segment.bytes": "200", "cleanup.policy": "compact"})
	written, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	const want = "cleanup.policy: compact\nretentionMs: 5\nsegmentBytes: \"200\"\n"
	if string(written) != want {
		t.Errorf("written:\n%swant:\n%s", written, want)
	}
}

func TestValidate(t *testing.T) {
	cases := []struct {
		name, manifest string
		want           []error
	}{
		{"good", fullTopic, nil},
		{"no name", "spec: {partitions: 1}", []error{v1alpha1.ErrTopicName}},
		{"long name", "spec: {topicName: " + strings.Repeat("a", 250) + "}", []error{v1alpha1.ErrTopicName}},
		{"negative partitions", "{metadata: {name: a}, spec: {partitions: -1}}", []error{v1alpha1.ErrPartitions}},
		{"two placements", "{metadata: {name: a}, spec: {storage: {volumes: [a], volumeSelector: {b: c}}}}", []error{v1alpha1.ErrStorage}},
		{
			"all at once", "spec: {partitions: -1, config: {segmentMs: 1, segment.ms: 2}}",
			[]error{v1alpha1.ErrTopicName, v1alpha1.ErrPartitions, v1alpha1.ErrConfigSpelling},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := decodeTopic(t, c.manifest).Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("error %v lacks %v", err, want)
				}
			}
		})
	}
}

func TestSchemeKnowsTheKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{v1alpha1.KindKafkaTopic, v1alpha1.KindKafkaUser, "KafkaTopicList", "KafkaUserList"} {
		if !scheme.Recognizes(v1alpha1.GroupVersion().WithKind(kind)) {
			t.Errorf("%s is not known", kind)
		}
	}
}
