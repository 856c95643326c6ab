package metastore

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

// manifest is a KafkaTopic and what the store needs of it.
type manifest struct {
	object *v1alpha1.KafkaTopic
	topic  string
	// partitions that are asked for; 0 leaves them to the broker's default.
	partitions int32
	config     map[string]string // by Kafka's dotted names
	statusID   uuid.UUID         // zero if the status names none
}

// errDocuments: one file is one topic, so that a topic's file can be named.
var errDocuments = errors.New("more than one document in the file")

// parseManifest reads a manifest strictly: a misspelled field is an error and not a default.
func parseManifest(data []byte) (*manifest, error) {
	if documents(data) > 1 {
		return nil, errDocuments
	}
	var object v1alpha1.KafkaTopic
	if err := yaml.UnmarshalStrict(data, &object); err != nil {
		return nil, fmt.Errorf("parse YAML: %w", err)
	}
	if object.APIVersion != v1alpha1.APIVersion || object.Kind != v1alpha1.KindKafkaTopic {
		return nil, fmt.Errorf("it is a %q of %q, want %s of %s", object.Kind, object.APIVersion, v1alpha1.KindKafkaTopic, v1alpha1.APIVersion)
	}
	return newManifest(&object)
}

func newManifest(object *v1alpha1.KafkaTopic) (*manifest, error) {
	if err := object.Validate(); err != nil {
		return nil, err
	}
	if err := catalog.ValidateName(object.TopicName()); err != nil {
		return nil, err
	}
	config, err := object.Spec.Config.Overrides()
	if err != nil {
		return nil, err
	}
	// A status may come from another cluster or from a person: what is no id counts as none.
	id, err := uuid.Parse(object.Status.TopicID)
	if err != nil {
		id = uuid.Nil
	}
	return &manifest{
		object: object, topic: object.TopicName(), partitions: object.Spec.Partitions, config: config, statusID: id,
	}, nil
}

// documents counts the YAML documents that have content.
func documents(data []byte) int {
	count, content := 0, false
	for line := range bytes.Lines(data) {
		trimmed := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("---")):
			content = len(trimmed) > 3 && trimmed[3] == ' ' && len(bytes.TrimSpace(trimmed[3:])) > 0
			if content {
				count++
			}
		case len(trimmed) == 0 || trimmed[0] == '#' || content:
		default:
			content = true
			count++
		}
	}
	return count
}

// blankManifest is the manifest of a topic that has none.
func blankManifest(topic string) *v1alpha1.KafkaTopic {
	object := &v1alpha1.KafkaTopic{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindKafkaTopic},
		ObjectMeta: metav1.ObjectMeta{Name: ObjectName(topic)},
	}
	if object.Name != topic {
		object.Spec.TopicName = topic
	}
	return object
}

func setConfig(object *v1alpha1.KafkaTopic, config map[string]string) {
	if object.Spec.Config == nil {
		object.Spec.Config = v1alpha1.TopicConfig{}
	}
	object.Spec.Config.SetOverrides(config)
}

// setStatus says in the manifest what has become of it.
func setStatus(object *v1alpha1.KafkaTopic, r *record, now time.Time) {
	status := &object.Status
	status.TopicID, status.TopicName, status.PartitionCount = r.ID.String(), r.Name, r.Partitions
	status.ObservedGeneration = object.Generation
	ready := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Served", ObservedGeneration: object.Generation,
		Message: "directories and configuration are in place", LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
	}
	for i, condition := range status.Conditions {
		if condition.Type != ready.Type {
			continue
		}
		if condition.Status == ready.Status {
			ready.LastTransitionTime = condition.LastTransitionTime
		}
		status.Conditions[i] = ready
		return
	}
	status.Conditions = append(status.Conditions, ready)
}

func formatManifest(object *v1alpha1.KafkaTopic) ([]byte, error) {
	data, err := yaml.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write manifest as YAML: %w", err)
	}
	return data, nil
}
