package metastore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-k8s/api/v1alpha1"
)

// CreatePartitions makes a topic have total partitions, which must be more than it has (ErrInvalidPartitions). When it returns without an
// error they are durable and in the catalog. With validateOnly it returns what the topic would be. Other errors are
// ErrUnknownTopic, ErrNoRoom, ErrManifest, or what storage said; after the last the manifest is set back, as far as that is possible.
func (s *Store) CreatePartitions(ctx context.Context, topic string, total int32, validateOnly bool) (*catalog.Topic, error) {
	changed, err := s.alter(ctx, topic, validateOnly, func(r *record, object *v1alpha1.KafkaTopic) error {
		if total <= r.Partitions {
			return fmt.Errorf("%w: there are %d already, %d would not be more", ErrInvalidPartitions, r.Partitions, total)
		}
		object.Spec.Partitions = total
		return errors.Join(s.checkPartitions(total), s.checkRoom(total-r.Partitions))
	})
	if err != nil {
		return nil, fmt.Errorf("create partitions of topic %s: %w", topic, err)
	}
	return changed, nil
}

// AlterTopicConfig lets change alter a copy of the topic's overrides (Kafka's dotted names), judges the result (ErrInvalidConfig), and makes
// it the topic's configuration, durably, before it returns. Nobody else changes the topic meanwhile. An error of change is returned as it is. With
// validateOnly it returns what the topic would be. Other errors are ErrUnknownTopic, ErrManifest, or what storage said.
func (s *Store) AlterTopicConfig(
	ctx context.Context, topic string, validateOnly bool, change func(overrides map[string]string) error,
) (*catalog.Topic, error) {
	changed, err := s.alter(ctx, topic, validateOnly, func(_ *record, object *v1alpha1.KafkaTopic) error {
		overrides, err := object.Spec.Config.Overrides()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrManifest, err)
		}
		if err := change(overrides); err != nil {
			return err
		}
		if _, err := s.options.Resolve(overrides); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidConfig, err)
		}
		setConfig(object, overrides)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("alter configuration of topic %s: %w", topic, err)
	}
	return changed, nil
}

// alter changes a topic's manifest and makes the topic follow it.
//
// Atomic? No. Idempotent? The manifest says the target, and the next pass completes what a crash interrupted. One writer? The store's
// lock, and the cluster directory's claim. Name as identity? The record's id says which topic of that name is meant.
func (s *Store) alter(
	ctx context.Context, topic string, validateOnly bool, edit func(r *record, object *v1alpha1.KafkaTopic) error,
) (*catalog.Topic, error) {
	ctx, release, err := s.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	r := s.records[topic]
	if r == nil || !r.served() {
		return nil, ErrUnknownTopic
	}
	name, object, err := s.editable(r)
	if err != nil {
		return nil, err
	}
	before := object.DeepCopy()
	if err := edit(r, object); err != nil {
		return nil, err
	}
	target, err := newManifest(object)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if validateOnly {
		preview := record{state: r.state, overrides: target.config}
		preview.Partitions = max(r.Partitions, target.partitions)
		return s.topic(&preview), nil
	}
	return s.follows(ctx, r, name, before, target)
}

// follows writes the changed manifest and makes the topic follow it. If that fails the manifest is set back: a client that saw an error
// does not find the change made later.
func (s *Store) follows(ctx context.Context, r *record, name string, before *v1alpha1.KafkaTopic, target *manifest) (*catalog.Topic, error) {
	if err := s.confirm(); err != nil {
		return nil, err
	}
	target.object.Generation++
	f, err := s.writeManifest(name, target.object)
	if err == nil {
		err = s.apply(ctx, f.manifest, f.manifest.partitions)
	}
	if err != nil {
		_, undone := s.writeManifest(name, before)
		return nil, errors.Join(err, undone)
	}
	s.publish(r.Name)
	s.writeStatus(name, r)
	if err := s.confirm(); err != nil {
		return nil, err
	}
	return s.topic(r), nil
}
