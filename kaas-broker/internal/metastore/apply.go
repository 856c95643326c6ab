package metastore

import (
	"context"
	"maps"

	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
)

// apply makes directories, configuration and state follow a manifest that was judged before, with at least this many partitions. What it did
// is in the record even when it fails; the next pass goes on from there.
//
// Atomic? No: each step below is durable before the next. Idempotent? Yes, it does what is still missing. One writer? The holder of
// the cluster directory's claim. Name as identity? The topic id, recorded before any directory carries it.
func (s *Store) apply(ctx context.Context, m *manifest, partitions int32) error {
	r, err := s.recordFor(m)
	if err != nil {
		return err
	}
	target := r.state
	target.Partitions = max(r.Partitions, partitions)
	if target.Partitions > r.Partitions {
		floor, err := s.options.Cluster.EpochFloor()
		if err != nil {
			return err
		}
		if err := topicdir.Create(ctx, s.options.Volume, target.dirs(), r.Partitions, floor); err != nil {
			return err
		}
	}
	if !r.configSet || !maps.Equal(r.overrides, m.config) {
		if err := topicdir.WriteConfig(s.options.Volume, r.dirs(), m.config); err != nil {
			return err
		}
		r.overrides, r.configSet = maps.Clone(m.config), true
	}
	// Last, because from here on a missing directory is a loss and is never made again.
	if target.Partitions > r.Partitions {
		return s.writeState(r, target)
	}
	return nil
}

// recordFor returns the topic's record and makes one, with a new id, if it is a new topic.
func (s *Store) recordFor(m *manifest) (*record, error) {
	r := s.records[m.topic]
	if r == nil {
		st, err := s.adopt(m)
		if err != nil {
			return nil, err
		}
		if st.Name == "" {
			id, err := newTopicID()
			if err != nil {
				return nil, err
			}
			st = state{Name: m.topic, ID: id}
		}
		// Remembered before it is written: a write that reports an error may have left the file, which then belongs to this id.
		r = &record{state: st}
		s.remember(r)
	}
	if !r.recorded {
		return r, s.writeState(r, r.state)
	}
	return r, nil
}

// adopt finds the directories that a manifest's status speaks of when the state file was lost, for instance because only topics/ was
// restored from a backup. A copied manifest finds none, because the name is part of the path.
func (s *Store) adopt(m *manifest) (state, error) {
	if reservedID(m.statusID) || s.deleting[m.statusID] != nil {
		return state{}, nil
	}
	st := state{Name: m.topic, ID: m.statusID}
	partitions, err := topicdir.Partitions(s.options.Volume, st.dirs())
	if err != nil || partitions == 0 {
		return state{}, err
	}
	st.Partitions = partitions
	s.options.Logger.Warn().Str("topic", m.topic).Stringer("id", m.statusID).Int32("partitions", partitions).
		Msg("topic without recorded state found on the volume and taken back")
	return st, nil
}
