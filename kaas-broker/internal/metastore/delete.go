package metastore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// deletion is a topic whose end has been decided.
type deletion struct {
	state
	noted bool // the note is durable
	// freed: nobody has its partitions open, the floor of epochs is above its own, and its name is free. Only directories are left.
	freed bool
	// retryAt is when the removal of the directories is tried again.
	retryAt time.Time
	// topic is what the catalog showed of it, for Abandon; nil once that was called, and after a restart.
	topic *catalog.Topic
}

// DeleteTopic deletes a topic. When it returns without an error the decision is durable and the topic is out of the catalog; Run
// removes its directories. A topic of the same name may be made at once. The error is ErrUnknownTopic or what storage said.
//
// Atomic? The note is. Idempotent? Everything after it is done again until it succeeds, also by the next process. One writer? Anyone may
// finish a deletion. Name as identity? The note goes by topic id.
func (s *Store) DeleteTopic(ctx context.Context, topic string) error {
	ctx, release, err := s.turn(ctx)
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	defer release()
	r := s.records[topic]
	if r == nil || r.deleting {
		return fmt.Errorf("delete topic %s: %w", topic, ErrUnknownTopic)
	}
	if err := s.confirm(); err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	// A manifest that was renamed or added a moment ago must not bring the topic back.
	if err := s.scan(); err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	if err := s.retire(ctx, r); err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	return nil
}

// retire decides the end of a topic. After the note is durable there is no way back, so what fails then is left to Run.
func (s *Store) retire(ctx context.Context, r *record) error {
	note := &deletion{state: r.state}
	if r.served() {
		note.topic = s.topic(r)
	}
	failed := s.writeNote(note)
	if failed != nil && removeDurably(s.deletions, noteName(r.ID)) == nil {
		return failed
	}
	// A note that could be neither written nor removed may be there, and would delete at the next start what clients write until then.
	// So the topic is served no more in this case either, although the client gets the error; Run writes the note when it can.
	r.deleting = true
	s.deleting[r.ID] = note
	s.publish(r.Name)
	if failed == nil {
		if err := s.free(ctx, note); err != nil {
			s.options.Logger.Warn().Err(err).Str("topic", r.Name).Msg("topic is deleted; clearing it away will be tried again")
		}
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return failed
}

// writeNote makes the decision durable. From then on every process that starts here carries it out.
func (s *Store) writeNote(d *deletion) error {
	if err := writeStateFile(s.deletions, noteName(d.ID), d.state); err != nil {
		return fmt.Errorf("note the deletion: %w", err)
	}
	d.noted = true
	return nil
}

// free gives the name of a deleted topic free.
//
// The order: nobody serves it any more; the floor is above its epochs before anything of them disappears and before a namesake
// can be made; the manifest goes before the state, because a manifest without a state would be a new topic.
func (s *Store) free(ctx context.Context, d *deletion) error {
	if !d.noted {
		if err := s.writeNote(d); err != nil {
			return err
		}
	}
	if d.topic != nil && s.options.Abandon != nil {
		if err := s.options.Abandon(ctx, d.topic); err != nil {
			return fmt.Errorf("abandon partitions: %w", err)
		}
	}
	d.topic = nil
	if err := s.raiseFloor(ctx, d); err != nil {
		return err
	}
	// Without a state of this id the name is free already, and a manifest of that name is a later topic's.
	if r := s.records[d.Name]; r != nil && r.ID == d.ID {
		if err := s.removeManifests(d.Name); err != nil {
			return err
		}
		if err := removeDurably(s.states, stateFile(d.Name)); err != nil {
			return fmt.Errorf("remove topic state: %w", err)
		}
		s.forget(d.Name)
	}
	d.freed = true
	return nil
}

func (s *Store) raiseFloor(ctx context.Context, d *deletion) error {
	highest, err := topicdir.HighestEpoch(ctx, s.options.Volume, d.dirs())
	if err != nil || highest < 0 {
		return err
	}
	return s.options.Cluster.RaiseEpochFloor(topicdir.FloorAfter(highest))
}

// finishDeletions tries again to free the names of deleted topics.
func (s *Store) finishDeletions(ctx context.Context, report func(Problem)) {
	for _, d := range s.pending(func(d *deletion) bool { return !d.freed }) {
		if err := s.free(ctx, d); err != nil && !isOfContext(err) {
			report(Problem{Topic: d.Name, Reason: "deleted topic cannot be cleared away yet: " + err.Error()})
		}
	}
}

// isOfContext says whether an error is that of a context.
func isOfContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// removeManifests removes every file that belongs to the topic, also copies and one that cannot be understood: each would bring it back.
func (s *Store) removeManifests(topic string) error {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if s.files[name].owner != topic {
			continue
		}
		if err := s.manifests.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove manifest: %w", err)
		}
		delete(s.files, name)
	}
	if err := s.manifests.Sync(); err != nil {
		return fmt.Errorf("remove manifest: %w", err)
	}
	return nil
}

// removeDurably removes a file, if it is there.
func removeDurably(dir vfs.Dir, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return dir.Sync()
}

func (s *Store) pending(which func(*deletion) bool) []*deletion {
	var some []*deletion
	for _, d := range s.deleting {
		if which(d) {
			some = append(some, d)
		}
	}
	slices.SortFunc(some, func(a, b *deletion) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return some
}

func noteName(id uuid.UUID) string { return id.String() + stateSuffix }

func (s *Store) loadDeletions() error {
	return eachStateFile(s.deletions, func(name string, st state) error {
		if noteName(st.ID) != name {
			return fmt.Errorf("note of a deletion %s/%s is of topic id %s", s.deletions.Path(), name, st.ID)
		}
		s.deleting[st.ID] = &deletion{state: st, noted: true}
		return nil
	})
}
