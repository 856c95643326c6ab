package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// DeleteRecords moves the log start to offset, or to the high watermark for -1 (KIP-107). The new log start is durable when it returns, and
// segments wholly below it are removed, the active one too. An offset at or below the log start changes nothing.
//
// Errors: ErrOffsetOutOfRange above the high watermark or below -1, or why the leadership ended.
func (p *Partition) DeleteRecords(ctx context.Context, offset int64) (int64, error) {
	high := p.Offsets().HighWatermark
	if offset == -1 {
		offset = high
	}
	if offset < 0 || offset > high {
		return 0, fmt.Errorf("offset %d is not in [0, %d]: %w", offset, high, ErrOffsetOutOfRange)
	}
	return p.moveLogStart(ctx, offset)
}

// retain is one retention pass (Kafka's LogCleaner is another matter; this is UnifiedLog.deleteOldSegments).
func (p *Partition) retain() {
	start, err := p.lookForExpired(p.engine.options.Clock.Now())
	if err == nil && start > p.logStart.Load() {
		_, err = p.moveLogStart(p.engine.ctx, start)
	}
	if err != nil && p.Err() == nil && !errors.Is(err, context.Canceled) {
		p.log.Error().Err(err).Msg("retention pass failed")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retaining = false
}

// lookForExpired reads index files, for which it takes a slot of the volume.
func (p *Partition) lookForExpired(now time.Time) (int64, error) {
	if err := p.enterVolume(); err != nil {
		return 0, err
	}
	defer p.volume.leave()
	var start int64
	err := p.unlessReplaced(func() (err error) {
		start, err = p.retentionStart(p.Config(), now)
		return err
	})
	return start, err
}

// retentionStart is the offset below which no record is kept. Whole segments go, oldest first, while each is too old or the log is too large
// without it. The newest segment can go too, by age, as in Kafka; its records must all be below the watermark.
func (p *Partition) retentionStart(c Config, now time.Time) (int64, error) {
	start := p.logStart.Load()
	if !c.Delete {
		return start, nil
	}
	size := p.Size()
	for _, s := range *p.segments.Load() {
		end := s.end.Load()
		if end <= s.base || end > p.watermark.Load() {
			break
		}
		over := c.RetentionBytes >= 0 && size-s.committed.Load() >= c.RetentionBytes
		if !over {
			expired, err := s.expired(c.RetentionAge, now)
			if err != nil {
				return 0, err
			}
			if !expired {
				break
			}
		}
		size -= s.committed.Load()
		start = max(start, end)
	}
	return start, nil
}

// expired reports whether the newest record is older than age. A segment without timestamps is dated by when it was written.
func (s *segment) expired(age time.Duration, now time.Time) (bool, error) {
	if age < 0 {
		return false, nil
	}
	newest, err := s.newestTimestamp()
	if err != nil {
		return false, err
	}
	if newest == batch.NoTimestamp {
		return now.Sub(s.created) > age, nil
	}
	return now.UnixMilli()-newest > age.Milliseconds(), nil
}

// moveLogStart records the new log start in the manifest, synced and checked, and only then shows it and removes files. A removal by an owner that
// is fenced later, or already, hits only what every later leader knows as dead: it reads this manifest or one that follows it.
func (p *Partition) moveLogStart(ctx context.Context, offset int64) (int64, error) {
	start := int64(0)
	err := p.maintain(ctx, func() error {
		var err error
		start, err = p.advanceLogStart(ctx, offset)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("move log start of %s: %w", p.label, err)
	}
	return start, nil
}

func (p *Partition) advanceLogStart(ctx context.Context, offset int64) (int64, error) {
	if err := p.leading(); err != nil {
		return 0, err
	}
	if start := p.logStart.Load(); offset <= start {
		return start, nil
	}
	if err := p.checkpoint(ctx, func(m *manifest) { m.LogStart = offset }); err != nil {
		return 0, err
	}
	p.logStart.Store(offset)
	for _, s := range p.detachBelow(offset) {
		p.discard(s, func() {})
	}
	return offset, nil
}

// leading fails once a handover has begun: behind it there may be no claim any more.
func (p *Partition) leading() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && p.handover {
		return fmt.Errorf("%s: %w", p.label, ErrClosed)
	}
	return p.err
}

// detachBelow takes the segments that end at or below offset off the log. An active segment that is wholly below makes room for a new one.
func (p *Partition) detachBelow(offset int64) []*segment {
	p.mu.Lock()
	defer p.mu.Unlock()
	var dead, live []*segment
	for _, s := range *p.segments.Load() {
		if end := s.end.Load(); end > offset || end <= s.base || s.committed.Load() < s.size {
			live = append(live, s)
			continue
		}
		dead = append(dead, s)
		if s == p.active {
			p.active = nil
		}
	}
	p.segments.Store(&live)
	return dead
}

// discard unlinks a segment's files once the last section of it is released: NFS would only rename an open file.
// If the leadership ends first, the next owner finds them as garbage. released is called when nobody reads the log any more, nor can begin to.
func (p *Partition) discard(s *segment, released func()) {
	for _, file := range s.files() {
		name := file.name.String()
		if file.missing() {
			file.doom(func() {})
			continue
		}
		file.doom(func() {
			if file == &s.log {
				released()
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.discarded = append(p.discarded, name)
			if p.err == nil && !p.removing {
				p.removing = true
				p.work.Go(p.removeDiscarded)
			}
		})
	}
}

// removeDiscarded unlinks what discard has left to it, until there is no more. One does so at a time: a log may lose any number of files at once, and whoever
// commits must not wait for a slot of the volume behind all of them.
func (p *Partition) removeDiscarded() {
	for {
		p.mu.Lock()
		names := p.discarded
		p.discarded = nil
		p.removing = len(names) > 0
		p.mu.Unlock()
		if len(names) == 0 {
			return
		}
		p.removeGarbage(names)
	}
}

// removalChunk is how many files are unlinked in one slot of the volume.
const removalChunk = 64

// removeGarbage unlinks files that are dead by a manifest that is synced and checked. A failure, or the end of the leadership, leaves garbage for the next owner,
// nothing worse.
func (p *Partition) removeGarbage(names []string) {
	defer p.dir.closeUnused() // see reopenThrough
	for chunk := range slices.Chunk(names, removalChunk) {
		if p.Err() != nil || p.enterVolume() != nil {
			return
		}
		err := removeNames(p.dir, chunk)
		p.volume.leave()
		if err != nil {
			p.log.Warn().Err(err).Msg("files that are no part of the log could not be removed")
		}
	}
}
