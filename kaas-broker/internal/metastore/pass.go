package metastore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Run watches the manifests until ctx ends, about once a second, and removes the directories of deleted topics. It returns nil when ctx ends.
func (s *Store) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-timer.C:
		}
		started := time.Now()
		if err := s.Reload(ctx); err != nil && ctx.Err() == nil {
			s.options.Logger.Warn().Err(err).Msg("metadata could not be reloaded")
		}
		// Many manifests on a slow file server must not keep it busy with being looked at.
		pause := max(s.options.PollInterval, lookShare*time.Since(started))
		s.Sweep(ctx)
		timer.Reset(pause)
	}
}

// lookShare: looking at the manifests takes at most one part in so many of the time.
const lookShare = 20

// Reload reads the manifests that have changed and does what they ask for, and tries again what failed before. It returns an error only when
// nothing could be done, such as when the context ended while another change was going on.
func (s *Store) Reload(ctx context.Context) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.confirm(); err != nil {
		return err
	}
	return s.pass(ctx)
}

// pass drives everything to where the manifests say it should be.
func (s *Store) pass(ctx context.Context) error {
	found := map[Problem]struct{}{}
	report := func(p Problem) { found[p] = struct{}{} }
	defer func() { s.problems.replace(s.options.Logger, found) }()
	if err := s.scan(); err != nil {
		report(Problem{Reason: err.Error()})
	}
	s.finishDeletions(ctx, report)
	bound := s.bind(report)
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if f := s.files[name]; f.err != nil {
			report(Problem{Manifest: f.name, Topic: f.owner, Reason: "manifest cannot be read, nothing is changed: " + f.err.Error()})
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(bound)) {
		if f := bound[topic]; f.manifest != nil {
			if err := s.follow(ctx, f, report); err != nil {
				report(Problem{Manifest: f.name, Topic: topic, Reason: err.Error()})
			}
		}
	}
	s.repair(report)
	for _, topic := range slices.Sorted(maps.Keys(s.records)) {
		if bound[topic] == nil && !s.records[topic].deleting {
			report(Problem{Topic: topic, Reason: "manifest is missing; the topic stays as it is, only DeleteTopics deletes it"})
		}
	}
	s.publishChanged()
	return ctx.Err()
}

// follow makes of a topic what its manifest says.
func (s *Store) follow(ctx context.Context, f *file, report func(Problem)) error {
	m, present := f.manifest, int32(0)
	switch r := s.records[m.topic]; {
	case r == nil:
		if err := s.admit(m.topic); err != nil {
			return err
		}
	case r.deleting:
		return nil
	default:
		present = r.Partitions
	}
	partitions := cmp.Or(m.partitions, present, s.options.DefaultPartitions())
	if err := s.checkPartitions(partitions); err != nil {
		return err
	}
	if err := s.checkRoom(partitions - present); err != nil {
		return err
	}
	if partitions < present {
		report(Problem{
			Manifest: f.name, Topic: m.topic,
			Reason: fmt.Sprintf("manifest asks for %d partitions, the topic has %d and keeps them", partitions, present),
		})
	}
	if _, err := s.options.Resolve(m.config); err != nil {
		// Growing does not depend on the configuration, but one manifest is taken or left as a whole.
		return fmt.Errorf("%w: %w", ErrInvalidConfig, err)
	}
	if err := s.apply(ctx, m, partitions); err != nil {
		return err
	}
	s.refreshStatus(f, s.records[m.topic])
	return nil
}

// publishChanged puts into the catalog what it does not show yet.
func (s *Store) publishChanged() {
	snapshot := s.options.Catalog.Snapshot()
	var changed []string
	for name, r := range s.records {
		shown, ok := snapshot.ByName(name)
		same := ok && shown.ID == r.ID && shown.Partitions == r.Partitions && maps.Equal(shown.Overrides, r.overrides)
		if r.served() && !same || !r.served() && ok {
			changed = append(changed, name)
		}
	}
	s.publish(changed...)
}
