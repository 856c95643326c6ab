package storage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// segment is one log file with its indexes. Its base and epoch are its name. Readers use it without a lock: they see
// the file up to committed, which only grows.
type segment struct {
	base  int64
	epoch Epoch

	log     fileHandle
	offsets fileHandle
	times   fileHandle
	index   sparseIndex

	transactions fileHandle
	aborted      abortedIndex

	reaching  ordered      // end, set before committed: no batch within committed is at or behind it
	committed atomic.Int64 // bytes that readers may see
	end       atomic.Int64 // offset behind the last batch that readers may see

	readers headerReaders // of whoever looks for an offset

	// The committer's own.
	reserved int64 // bytes of blocks that are reserved for the log
	written  int64 // bytes of batches in the file
	ahead    int64 // where zeros written behind them end; below written when there are none
	inert    bool  // the file system gains nothing by zeros

	// The rest belongs to the appender, under the partition's mutex.
	size    int64     // bytes, queued ones included
	created time.Time // first append here, or the takeover
}

// newSegment describes a file without touching it. mode says whether it is another epoch's or ours to make.
func newSegment(dir vfs.Dir, base int64, epoch Epoch, mode fileMode) *segment {
	s := &segment{base: base, epoch: epoch}
	s.log.dir, s.log.name = dir, segmentName{base: base, epoch: epoch, suffix: logSuffix}
	s.offsets.dir, s.offsets.name = dir, segmentName{base: base, epoch: epoch, suffix: indexSuffix}
	s.times.dir, s.times.name = dir, segmentName{base: base, epoch: epoch, suffix: timeSuffix}
	s.transactions.dir, s.transactions.name = dir, segmentName{base: base, epoch: epoch, suffix: abortedSuffix}
	for _, file := range s.files() {
		file.mode.Store(mode)
	}
	s.end.Store(base)
	return s
}

// newCompacted describes a file of compaction.
func newCompacted(dir vfs.Dir, base int64, epoch Epoch, generation uint32, mode fileMode) *segment {
	s := newSegment(dir, base, epoch, mode)
	for _, file := range s.files() {
		file.name.generation = generation
	}
	return s
}

// compacted: offsets may be missing anywhere between base and end, up to all of them. Of a segment as it was appended none is.
func (s *segment) compacted() bool { return s.log.name.generation > 0 }

// files names everything that belongs to the segment, indexes first: what is removed last is the log itself.
func (s *segment) files() []*fileHandle {
	return []*fileHandle{&s.offsets, &s.times, &s.transactions, &s.log}
}

// close closes every file for good, those in use when their last user is done.
func (s *segment) close() {
	for _, file := range s.files() {
		file.doom(func() {})
	}
}

// fits reports whether a batch may follow in this segment: positions and relative offsets are stored in 32 bits.
func (s *segment) fits(size, lastOffset, limit int64) bool {
	return s.size == 0 || (s.size+size <= min(limit, math.MaxInt32) && lastOffset-s.base <= math.MaxInt32)
}

// locate finds the first batch that ends at or behind offset: its header's position and its size. io.EOF when readers may see none.
// A segment that ends behind offset holds such a batch, unless it is compacted, so a walk that finds none has met damage.
func (s *segment) locate(file vfs.File, offset int64) (position, size int64, err error) {
	end := s.end.Load()
	if end <= offset {
		return 0, 0, io.EOF
	}
	relative := max(offset-s.base, 0)
	position, err = s.index.position(uint32(min(relative, math.MaxUint32)), &s.offsets)
	if err != nil {
		return 0, 0, s.fail("read index", err)
	}
	headers := s.readers.take(file, s.committed.Load())
	defer s.readers.give(headers)
	for next := s.base; ; {
		header, size, err := headers.header(position)
		switch {
		case errors.Is(err, io.EOF) && s.compacted():
			return 0, 0, io.EOF
		case errors.Is(err, io.EOF):
			return 0, 0, s.corrupt(position, fmt.Sprintf("no batch holds offset %d", offset))
		case err != nil:
			return 0, 0, s.fail("read log", err)
		case header.BaseOffset() < next:
			return 0, 0, s.corrupt(position, fmt.Sprintf("batch at offset %d comes behind offset %d", header.BaseOffset(), next))
		case header.LastOffset() >= offset && header.BaseOffset() > max(offset, s.base) && !s.compacted():
			return 0, 0, s.corrupt(position, fmt.Sprintf("no batch holds offset %d", offset))
		case header.LastOffset() >= offset:
			return position, size, nil
		}
		position, next = position+size, header.LastOffset()+1
	}
}

// scan calls visit for each batch header from position on until it returns false.
func (s *segment) scan(file vfs.File, position int64, visit func(header batch.Batch, position, size int64) bool) error {
	headers := newHeaderReader(file, s.committed.Load())
	for {
		header, size, err := headers.header(position)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return s.fail("read log", err)
		case !visit(header, position, size):
			return nil
		}
		position += size
	}
}

// newestTimestamp is the largest record timestamp in the segment, batch.NoTimestamp when no index knows it.
func (s *segment) newestTimestamp() (int64, error) {
	entry, found, err := s.index.largest(&s.times)
	if err != nil {
		return 0, s.fail("read time index", err)
	}
	if !found {
		return batch.NoTimestamp, nil
	}
	return entry.timestamp, nil
}

func (s *segment) corrupt(position int64, cause string) error {
	return &CorruptionError{Dir: s.log.dir.Path(), File: s.log.name.String(), Offset: position, Cause: cause}
}

func (s *segment) fail(op string, err error) error {
	if errors.Is(err, batch.ErrMalformed) || errors.Is(err, batch.ErrMagic) {
		return s.corrupt(-1, "impossible batch header below the watermark")
	}
	return &StorageError{Op: op, Path: fmt.Sprintf("%s/%s", s.log.dir.Path(), s.log.name), Err: err}
}

// persistIndexes appends the index entries below offset to the index files and syncs them, so that the recovery point may move to it.
// Only the partition's checkpoint calls it, one at a time; the files are of one's own epoch, and no position is written twice.
func (s *segment) persistIndexes(offset int64) (made bool, err error) {
	offsets, times := s.index.pending(offset - s.base)
	aborted := s.aborted.pending(offset)
	if len(offsets) == 0 && len(times) == 0 && len(aborted) == 0 {
		return false, nil
	}
	stored := s.index.counts()
	made = (s.offsets.missing() && len(offsets) > 0) || (s.times.missing() && len(times) > 0) || (s.transactions.missing() && len(aborted) > 0)
	if err := appendSynced(&s.offsets, encodeOffsetEntries(offsets), stored.OffsetEntries*offsetEntrySize); err != nil {
		return made, s.fail("write index", err)
	}
	if err := appendSynced(&s.times, encodeTimeEntries(times), stored.TimeEntries*timeEntrySize); err != nil {
		return made, s.fail("write time index", err)
	}
	if err := appendSynced(&s.transactions, encodeAborted(aborted), s.aborted.count()*abortedEntrySize); err != nil {
		return made, s.fail("write transaction index", err)
	}
	s.index.written(len(offsets), len(times))
	s.aborted.written(len(aborted))
	return made, nil
}

// appendSynced leaves the file closed: it is written once in a while, and a recovery point may write those of any number of segments.
func appendSynced(h *fileHandle, data []byte, at int64) error {
	if len(data) == 0 {
		return nil
	}
	defer h.closeUnused()
	file, err := h.acquire()
	if err != nil {
		return err
	}
	defer h.release()
	if _, err := file.WriteAt(data, at); err != nil {
		return err
	}
	return file.Sync()
}
