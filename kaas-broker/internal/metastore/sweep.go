package metastore

import (
	"context"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
)

// sweepPause is the time between two attempts at directories that could not be removed.
const sweepPause = 30 * time.Second

// Sweep removes the directories of deleted topics. It holds up no other change. What fails is logged and tried again half a minute later.
func (s *Store) Sweep(ctx context.Context) {
	release, err := s.acquire(ctx)
	if err != nil {
		return
	}
	now := time.Now()
	pending := s.pending(func(d *deletion) bool { return d.freed && !now.Before(d.retryAt) })
	for _, d := range pending {
		d.retryAt = now.Add(sweepPause)
	}
	release()
	for _, d := range pending {
		if err := s.destroy(ctx, d); err != nil && ctx.Err() == nil {
			s.options.Logger.Warn().Err(err).Str("topic", d.Name).Stringer("id", d.ID).Msg("directories of a deleted topic could not be removed yet")
		}
	}
}

// destroy removes the directories of one deleted topic, and then the note of its deletion.
func (s *Store) destroy(ctx context.Context, d *deletion) error {
	if err := topicdir.Delete(ctx, s.options.Volume, d.dirs(), s.options.Cluster.RaiseEpochFloor); err != nil {
		return err
	}
	if s.options.Forget != nil {
		if err := s.options.Forget(ctx, d.Name, d.ID); err != nil {
			return fmt.Errorf("forget the topic: %w", err)
		}
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := removeDurably(s.deletions, noteName(d.ID)); err != nil {
		return fmt.Errorf("remove note of deletion: %w", err)
	}
	delete(s.deleting, d.ID)
	return nil
}
