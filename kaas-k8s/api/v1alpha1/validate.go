package v1alpha1

import (
	"errors"
	"fmt"
)

// maxTopicName is the longest name that Kafka accepts.
const maxTopicName = 249

// Errors of Validate.
var (
	ErrTopicName  = errors.New("invalid topic name")
	ErrPartitions = errors.New("invalid partition count")
	ErrStorage    = errors.New("invalid storage")
)

// Validate checks what the resource's schema says: lengths, ranges, and fields that exclude each other. Names and values
// of the configuration are left to the broker. The errors of several problems are joined.
func (t *KafkaTopic) Validate() error {
	var problems []error
	if name := t.TopicName(); name == "" || len(name) > maxTopicName {
		problems = append(problems, fmt.Errorf("%w: want 1 to %d characters, got %d", ErrTopicName, maxTopicName, len(name)))
	}
	if t.Spec.Partitions < 0 {
		problems = append(problems, fmt.Errorf("%w: spec.partitions is %d", ErrPartitions, t.Spec.Partitions))
	}
	if s := t.Spec.Storage; s != nil && len(s.Volumes) > 0 && len(s.VolumeSelector) > 0 {
		problems = append(problems, fmt.Errorf("%w: volumes and volumeSelector exclude each other", ErrStorage))
	}
	if _, err := t.Spec.Config.Overrides(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
