package slot

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// noteGrowthLocked wakes trimming when the log is worth it.
func (s *Slot) noteGrowthLocked() {
	if !s.live.hasGrown(s.trimBytes) {
		return
	}
	select {
	case s.grown <- struct{}{}:
	default:
	}
}

// trimWhenGrown runs until the slot is closed or lost.
func (s *Slot) trimWhenGrown() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.partition.Done():
			return
		case <-s.grown:
		}
		if err := s.trimIfGrown(s.ctx); err != nil && !errors.Is(err, ErrClosed) && s.partition.Err() == nil {
			s.log.Warn().Err(err).Str("partition", s.partition.Label()).Msg("coordinator slot could not be trimmed")
		}
	}
}

func (s *Slot) trimIfGrown(ctx context.Context) error {
	s.mu.Lock()
	grown := s.live.hasGrown(s.trimBytes)
	s.mu.Unlock()
	if !grown {
		return nil
	}
	return s.Trim(ctx)
}

// Trim appends again, from the log's front, what is still live, and then removes the front. It runs by itself when the log has grown past four times
// the live state. A crash at any point leaves a log with the same state.
func (s *Slot) Trim(ctx context.Context) error {
	s.trimming.Lock()
	defer s.trimming.Unlock()
	s.mu.Lock()
	end, size, barrier := s.Next(), s.live.log, s.Barrier()
	s.mu.Unlock()
	// Only what is below the watermark can be read.
	if err := barrier.Wait(ctx); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	if err := s.carry(ctx, end); err != nil {
		return fmt.Errorf("trim below offset %d: %w", end, err)
	}
	s.mu.Lock()
	barrier = s.Barrier()
	s.mu.Unlock()
	if err := barrier.Wait(ctx); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	// Every live key is durable at or above end now, so that nothing below is needed by anybody who will ever lead the slot.
	if _, err := s.partition.DeleteRecords(ctx, end); err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	s.mu.Lock()
	s.live.log -= size
	s.mu.Unlock()
	return nil
}

// carry appends again, batch by batch, what was last written below end. The records go in the order of the log. Reading happens outside the lock:
// whether a record is still the last word on its key is asked under the same hold under which it is appended.
func (s *Slot) carry(ctx context.Context, end int64) error {
	start := s.partition.Offsets().LogStart
	return s.scan(ctx, start, end, func(b batch.Batch) error {
		var records []Record
		var offsets []int64
		err := s.decode(b, start, func(r Record, offset int64) error {
			records, offsets = append(records, r), append(offsets, offset)
			return nil
		})
		if err != nil {
			return err
		}
		return s.carryBatch(records, offsets)
	})
}

func (s *Slot) carryBatch(records []Record, offsets []int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := records[:0]
	for i, r := range records {
		if s.live.isLast(r.Key, offsets[i]) {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, err := s.Append(kept...)
	return err
}
