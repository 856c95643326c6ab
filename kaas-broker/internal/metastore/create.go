package metastore

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

// NewTopic is a topic to be made.
type NewTopic struct {
	Name string
	// Partitions is at least 1; the broker's default is filled in by the caller.
	Partitions int32
	// Config are the topic's overrides by Kafka's dotted names.
	Config map[string]string
	// ValidateOnly makes CreateTopic stop after the checks.
	ValidateOnly bool
}

// CreateTopic makes a topic. When it returns without an error the topic is durable and in the catalog. With ValidateOnly it returns what
// the topic would be, without an id. The error is about the name (ErrTopicExists, ErrDeleting, catalog.ErrInvalidName, catalog.ErrReservedName),
// ErrInvalidPartitions, ErrNoRoom, ErrInvalidConfig, or what storage said; after the last the topic is removed again, as far as that is possible. ctx ends the wait
// for other changes only, here and in every other method that changes a topic.
//
// Atomic? No. Idempotent? A crash after the manifest was written leaves a topic that the next start completes. One writer? The
// store's lock, and the cluster directory's claim. Name as identity? The topic gets a new id.
func (s *Store) CreateTopic(ctx context.Context, n NewTopic) (*catalog.Topic, error) {
	ctx, release, err := s.turn(ctx)
	if err != nil {
		return nil, fmt.Errorf("create topic %s: %w", n.Name, err)
	}
	defer release()
	topic, err := s.createTopic(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("create topic %s: %w", n.Name, err)
	}
	return topic, nil
}

func (s *Store) createTopic(ctx context.Context, n NewTopic) (*catalog.Topic, error) {
	if r := s.records[n.Name]; r != nil && r.deleting && !n.ValidateOnly {
		// Its name may be freed by now; if not, admit says so.
		s.finishDeletions(ctx, func(Problem) {})
	}
	if err := s.judge(n); err != nil {
		return nil, err
	}
	if n.ValidateOnly {
		return s.topic(&record{state: state{Name: n.Name, Partitions: n.Partitions}, overrides: n.Config}), nil
	}
	if err := s.confirm(); err != nil {
		return nil, err
	}
	name, err := s.freeName(n.Name)
	if err != nil {
		return nil, err
	}
	object := blankManifest(n.Name)
	object.Spec.Partitions = n.Partitions
	setConfig(object, n.Config)
	f, err := s.writeManifest(name, object)
	if err == nil {
		err = s.apply(ctx, f.manifest, n.Partitions)
	}
	if err != nil {
		return nil, errors.Join(err, s.undoCreate(n.Name))
	}
	r := s.records[n.Name]
	s.publish(n.Name)
	s.writeStatus(name, r)
	if err := s.confirm(); err != nil {
		return nil, err
	}
	return s.topic(r), nil
}

// undoCreate takes back what a failed creation has left, so that a client which saw an error does not find the topic later. It does not end
// with the client's context.
func (s *Store) undoCreate(name string) error {
	ctx := context.Background()
	if r := s.records[name]; r != nil {
		return s.retire(ctx, r)
	}
	// The file may be there although writing it reported an error.
	if err := s.scan(); err != nil {
		return err
	}
	return s.removeManifests(name)
}
