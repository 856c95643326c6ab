package storage

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// TimestampOffset is a record found by its timestamp. Offset -1 means that there is none.
type TimestampOffset struct {
	Offset      int64
	Timestamp   int64 // of that record, ms since 1970
	LeaderEpoch Epoch
}

var noRecord = TimestampOffset{Offset: -1, Timestamp: batch.NoTimestamp, LeaderEpoch: NoEpoch}

// OffsetForTimestamp returns the first record at or behind the log start and below limit whose timestamp is ms or later, looking inside batches (Kafka's
// ListOffsets by time). limit is the high watermark or the last stable offset.
//
// It decodes the records of one batch, which batch.SiteTimestampLookup counts: the first whose largest timestamp is late enough. Where that one does not show
// such a record it returns the batch's first offset, with its largest timestamp: who reads from there misses nothing. That is so for a batch that would take
// more than batch.DefaultLimit uncompressed, and for one whose producer has sent a wrong timestamp or what nobody can decode. Kafka looks into batches
// as they come, and then need not doubt them.
//
// Four searches run at a time on one volume, and two of them look into a batch; the others wait.
func (p *Partition) OffsetForTimestamp(ctx context.Context, ms, limit int64) (TimestampOffset, error) {
	return p.lookUp(ctx, func() (TimestampOffset, error) { return p.firstSince(ctx, ms, limit) })
}

// lookUp runs a search that reads files. When ctx ends first its result is dropped, and it ends before the next batch. Until then nobody takes its place:
// clients that ask and leave would have any number of batches decompressed at once.
func (p *Partition) lookUp(ctx context.Context, search func() (TimestampOffset, error)) (TimestampOffset, error) {
	leave, err := p.volume.enterLookup(ctx)
	if err != nil {
		return noRecord, err
	}
	var found TimestampOffset
	err = p.engine.blocking(ctx, p.volume, func() error {
		defer leave()
		return p.unlessReplaced(func() (err error) {
			found, err = search()
			return err
		})
	}, leave)
	if err != nil {
		return noRecord, err
	}
	return found, nil
}

// MaxTimestampOffset returns the first record that has the largest timestamp of those from the log start to below limit (KIP-734, at the level of records).
func (p *Partition) MaxTimestampOffset(ctx context.Context, limit int64) (TimestampOffset, error) {
	return p.lookUp(ctx, func() (TimestampOffset, error) {
		newest, err := p.newestBelow(ctx, limit)
		if err != nil || newest == batch.NoTimestamp {
			return noRecord, err
		}
		return p.firstSince(ctx, newest, limit)
	})
}

func (p *Partition) firstSince(ctx context.Context, ms, limit int64) (TimestampOffset, error) {
	for _, s := range segmentsFrom(*p.segments.Load(), p.logStart.Load()) {
		newest, err := s.newestTimestamp()
		if err != nil {
			return noRecord, err
		}
		if newest != batch.NoTimestamp && newest < ms {
			continue
		}
		found, err := p.searchSegment(ctx, s, ms, limit)
		if err != nil || found.Offset >= 0 {
			return found, err
		}
	}
	return noRecord, nil
}

// searchSegment scans headers from where the time index points to a batch whose largest timestamp is late enough, and decodes that; at the ends of the log
// the next one, too. It leaves the files closed: a log without timestamps has all of its segments searched.
func (p *Partition) searchSegment(ctx context.Context, s *segment, ms, limit int64) (TimestampOffset, error) {
	defer p.doneWith(s)
	file, err := s.log.acquire()
	if err != nil {
		return noRecord, s.fail("open segment", err)
	}
	defer s.log.release()
	start := p.logStart.Load()
	if entry, found, err := s.index.before(ms, &s.times); err != nil {
		return noRecord, s.fail("read time index", err)
	} else if found {
		start = max(start, s.base+int64(entry.relative))
	}
	position, _, err := s.locate(file, start)
	if errors.Is(err, io.EOF) {
		return noRecord, nil
	}
	if err != nil {
		return noRecord, err
	}
	found := noRecord
	var failed error
	err = s.scan(file, position, func(header batch.Batch, position, size int64) bool {
		if failed = context.Cause(ctx); failed != nil || header.BaseOffset() >= limit {
			return false
		}
		if header.MaxTimestamp() >= ms && header.Count() > 0 {
			found, failed = p.searchBatch(ctx, s, file, position, size, ms, limit)
		}
		return failed == nil && found.Offset < 0
	})
	return found, errors.Join(err, failed)
}

func (p *Partition) searchBatch(ctx context.Context, s *segment, file vfs.File, position, size, ms, limit int64) (TimestampOffset, error) {
	leave, err := p.volume.enterDecode(ctx)
	if err != nil {
		return noRecord, err
	}
	defer leave()
	buf := make([]byte, size)
	if _, err := file.ReadAt(buf, position); err != nil && !errors.Is(err, io.EOF) {
		return noRecord, s.fail("read log", err)
	}
	b, _, err := batch.Next(buf)
	if err != nil {
		return noRecord, s.fail("read log", err)
	}
	start := p.logStart.Load()
	if b.Control() {
		return noRecord, nil
	}
	whole := TimestampOffset{Offset: max(b.BaseOffset(), start), Timestamp: b.MaxTimestamp(), LeaderEpoch: Epoch(b.LeaderEpoch())}
	for record, err := range b.Records(p.engine.options.Tripwires, batch.SiteTimestampLookup, batch.DefaultLimit) {
		switch {
		case err == nil:
		case b.ValidCRC():
			return whole, nil
		default:
			return noRecord, &CorruptionError{Dir: p.dir.Path(), File: s.log.name.String(), Offset: position, Cause: err.Error()}
		}
		offset, timestamp := b.BaseOffset()+int64(record.OffsetDelta), b.BaseTimestamp()+record.TimestampDelta
		if b.AppendTime() {
			timestamp = b.MaxTimestamp()
		}
		if timestamp >= ms && offset >= start && offset < limit {
			return TimestampOffset{Offset: offset, Timestamp: timestamp, LeaderEpoch: Epoch(b.LeaderEpoch())}, nil
		}
	}
	if b.BaseOffset() < start || b.LastOffset() >= limit {
		return noRecord, nil // its record may be one that does not count
	}
	return whole, nil
}

// doneWith closes the files of a segment that nobody writes and nothing waits to sync.
func (p *Partition) doneWith(s *segment) {
	p.mu.Lock()
	settled := s != p.active && s.end.Load() <= p.synced
	p.mu.Unlock()
	if settled {
		for _, file := range s.files() {
			file.closeUnused()
		}
	}
}

// newestBelow is the largest timestamp of the batches that begin below limit. Only segments whose index may know of something that does not
// count, at the two ends of the log, are scanned.
func (p *Partition) newestBelow(ctx context.Context, limit int64) (int64, error) {
	start := p.logStart.Load()
	newest := batch.NoTimestamp
	for _, s := range *p.segments.Load() {
		whole := s.base >= start && s.end.Load() <= limit && s != p.writing()
		timestamp, err := s.newestTimestamp()
		if err == nil && (!whole || timestamp == batch.NoTimestamp) {
			timestamp, err = s.scanNewest(ctx, start, limit)
			p.doneWith(s)
		}
		if err != nil {
			return 0, err
		}
		newest = max(newest, timestamp)
	}
	return newest, nil
}

func (p *Partition) writing() *segment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active
}

func (s *segment) scanNewest(ctx context.Context, start, limit int64) (int64, error) {
	file, err := s.log.acquire()
	if err != nil {
		return 0, s.fail("open segment", err)
	}
	defer s.log.release()
	newest := int64(math.MinInt64)
	err = s.scan(file, 0, func(header batch.Batch, _, _ int64) bool {
		if header.BaseOffset() >= limit || ctx.Err() != nil {
			return false
		}
		if header.LastOffset() >= start {
			newest = max(newest, recordTimestamp(header))
		}
		return true
	})
	return max(newest, batch.NoTimestamp), errors.Join(err, context.Cause(ctx))
}
