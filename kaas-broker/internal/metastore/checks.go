package metastore

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

// judge makes all checks of a new topic.
func (s *Store) judge(n NewTopic) error {
	if err := s.admit(n.Name); err != nil {
		return err
	}
	for _, f := range s.files {
		// A person has asked for it already; the next pass makes it.
		if f.manifest != nil && f.manifest.topic == n.Name {
			return fmt.Errorf("%w: manifest %s asks for it", ErrTopicExists, f.name)
		}
	}
	if err := errors.Join(s.checkPartitions(n.Partitions), s.checkRoom(n.Partitions)); err != nil {
		return err
	}
	if _, err := s.options.Resolve(n.Config); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidConfig, err)
	}
	return nil
}

// admit says whether a topic of this name may be made.
func (s *Store) admit(name string) error {
	if err := catalog.ValidateName(name); err != nil {
		return err
	}
	if r := s.records[name]; r != nil {
		if r.deleting {
			return fmt.Errorf("%w: %s", ErrDeleting, name)
		}
		return fmt.Errorf("%w: %s", ErrTopicExists, name)
	}
	if other, taken := s.folded[catalog.Fold(name)]; taken {
		return fmt.Errorf("%w: %s and %s", ErrCollision, name, other)
	}
	// Two names with one object name would share one state.
	if _, err := s.states.Stat(stateFile(name)); err == nil {
		return fmt.Errorf("%w: the object name of %s is another topic's", ErrTopicExists, name)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for topic state: %w", err)
	}
	return nil
}

// checkPartitions judges a number of partitions for itself.
func (s *Store) checkPartitions(partitions int32) error {
	switch {
	case partitions < 1:
		return fmt.Errorf("%w: %d", ErrInvalidPartitions, partitions)
	case partitions > s.options.MaxPartitions:
		return fmt.Errorf("%w: %d is more than %d", ErrInvalidPartitions, partitions, s.options.MaxPartitions)
	}
	return nil
}

// checkRoom judges a number of partitions that are to be made beside those of all topics.
func (s *Store) checkRoom(more int32) error {
	if s.options.RoomFor == nil || more <= 0 {
		return nil
	}
	total := int(more)
	for _, r := range s.records {
		total += int(r.Partitions)
	}
	if err := s.options.RoomFor(total); err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	return nil
}
