package slot

import (
	"context"
	"errors"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// readBytes is how much of the log is in memory at a time, a larger batch excepted.
const readBytes = 256 << 10

// replay reads the whole log. What is there is durable and owned: the takeover saw to it.
func (s *Slot) replay(ctx context.Context, apply func(Record, int64) error) error {
	bounds := s.partition.Offsets()
	return s.scan(ctx, bounds.LogStart, bounds.HighWatermark, func(b batch.Batch) error {
		s.live.log += int64(len(b))
		return s.decode(b, bounds.LogStart, func(r Record, offset int64) error {
			s.live.record(r, offset)
			return apply(r, offset)
		})
	})
}

// scan gives visit each batch that begins in [from, to). The batch is valid during the call.
func (s *Slot) scan(ctx context.Context, from, to int64, visit func(batch.Batch) error) error {
	var buffer []byte
	for from < to {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		section, err := s.partition.Read(from, storage.ReadOptions{MaxBytes: readBytes, AtLeastOneBatch: true})
		if err != nil {
			return err
		}
		if section == nil {
			return fmt.Errorf("log ends at offset %d, before %d: %w", from, to, ErrCorrupt)
		}
		if buffer, err = load(section, buffer); err != nil {
			return fmt.Errorf("read at offset %d: %w", from, err)
		}
		if from, err = visitAll(buffer, from, to, visit); err != nil {
			return err
		}
	}
	return nil
}

func load(section *storage.Section, buffer []byte) ([]byte, error) {
	defer section.Release()
	size := int(section.Size())
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	buffer = buffer[:size]
	_, err := section.ReadAt(buffer, 0)
	return buffer, err
}

// visitAll visits whole batches and returns the offset to go on at. The last batch may be cut; the next read begins with it.
func visitAll(data []byte, from, to int64, visit func(batch.Batch) error) (int64, error) {
	for from < to {
		b, rest, err := batch.Next(data)
		if errors.Is(err, batch.ErrTruncated) {
			return from, nil
		}
		if err == nil && !b.ValidCRC() {
			err = batch.ErrMalformed
		}
		if err != nil {
			return from, fmt.Errorf("batch at offset %d: %w: %w", from, ErrCorrupt, err)
		}
		if err := visit(b); err != nil {
			return from, err
		}
		from, data = b.LastOffset()+1, rest
	}
	return from, nil
}

// decode gives visit the records of a batch from offset least on.
func (s *Slot) decode(b batch.Batch, least int64, visit func(Record, int64) error) error {
	var last Key
	for r, err := range b.Records(s.tripwires, batch.SiteCoordinator, 0) {
		if err != nil {
			return fmt.Errorf("batch at offset %d: %w: %w", b.BaseOffset(), ErrCorrupt, err)
		}
		offset := b.BaseOffset() + int64(r.OffsetDelta)
		if offset < least {
			continue
		}
		key, err := parseKey(r.Key)
		key = key.sharing(last)
		last = key
		if err == nil {
			err = visit(Record{Key: key, Value: r.Value}, offset)
		}
		if err != nil {
			return fmt.Errorf("record at offset %d: %w", offset, corrupt(err))
		}
	}
	return nil
}

// corrupt marks an error that says nothing of its cause.
func corrupt(err error) error {
	if errors.Is(err, storage.ErrFutureVersion) || errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
