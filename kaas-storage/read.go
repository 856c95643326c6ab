package storage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// ReadOptions bound one read.
type ReadOptions struct {
	MaxBytes        int  // the section is cut here, maybe inside a batch, as Kafka does
	AtLeastOneBatch bool // the first batch comes whole even if it is larger (KIP-74)
	Committed       bool // nothing at or behind the last stable offset (read_committed); what is aborted is left in, see Partition.AbortedIn
}

// Section is a run of bytes of one log file: whole batches, except that the last may be cut by ReadOptions.MaxBytes. Its bytes never change.
// Release must be called, once; until then the file is kept.
type Section struct {
	segment  *segment
	file     vfs.File
	offset   int64
	size     int64
	more     bool
	released atomic.Bool
}

// Size is the section's length in bytes.
func (s *Section) Size() int64 { return s.size }

// More reports whether readable records followed the section when it was read, in the same segment or in a later one: waiting will not
// make it larger.
func (s *Section) More() bool { return s.more }

// End is an offset that no batch of the section reaches. Where the index is sparse it may lie behind some batches that follow.
// The error is a *StorageError.
func (s *Section) End() (int64, error) {
	next, found, err := s.segment.index.after(s.offset+s.size, &s.segment.offsets)
	switch {
	case isGone(err): // replaced or removed meanwhile; the section's own file is kept
	case err != nil:
		return 0, s.segment.fail("read index", err)
	case found:
		return s.segment.base + int64(next.relative), nil
	}
	return s.segment.end.Load(), nil
}

// ReadAt reads from the section; offset 0 is its first byte.
func (s *Section) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= s.size {
		return 0, io.EOF
	}
	short := int64(len(p)) > s.size-offset
	if short {
		p = p[:s.size-offset]
	}
	n, err := s.file.ReadAt(p, s.offset+offset)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// File returns the section's file and position for sendfile; ok is false when it has no descriptor.
func (s *Section) File() (file *os.File, offset int64, ok bool) {
	file = s.file.OSFile()
	return file, s.offset, file != nil
}

// Release gives the file back. Further calls do nothing.
func (s *Section) Release() {
	if s.released.CompareAndSwap(false, true) {
		s.segment.log.release()
	}
}

// Read returns the bytes from the batch that holds offset on, or the next one where compaction has taken it, below the high watermark or the last stable offset and within one segment; nil
// when offset is that bound or above and not beyond the log end. It works for as long as the partition is open, also after its leadership ended:
// what is below the watermark never changes.
//
// Errors: ErrOffsetOutOfRange, ErrClosed, ErrFenced (another owner has come since the files were closed as idle), *StorageError, *CorruptionError.
func (p *Partition) Read(offset int64, o ReadOptions) (*Section, error) {
	for {
		section, segments, err := p.read(offset, o)
		if !isGone(err) || segments == p.segments.Load() {
			return section, p.readError(offset, err)
		}
	}
}

// read also returns the list of segments that it used: a file that is gone may have given way to another one since.
func (p *Partition) read(offset int64, o ReadOptions) (*Section, *[]*segment, error) {
	bounds := p.Offsets()
	limit := bounds.HighWatermark
	if o.Committed {
		limit = bounds.LastStable
	}
	switch {
	case offset < bounds.LogStart || offset > bounds.LogEnd:
		return nil, nil, fmt.Errorf("offset %d is not in [%d, %d]: %w", offset, bounds.LogStart, bounds.LogEnd, ErrOffsetOutOfRange)
	case offset >= limit:
		return nil, nil, nil
	}
	segments := p.segments.Load()
	for _, s := range segmentsFrom(*segments, offset) {
		if s.base >= limit {
			break
		}
		section, err := s.read(offset, limit, o)
		if section != nil {
			section.more = section.more || s.end.Load() < limit
			return section, segments, nil
		}
		if err != nil {
			return nil, segments, err
		}
	}
	return nil, segments, nil
}

// unlessReplaced looks at files by way of the list of segments, and again when one of them has given way to another, or to the log start, meanwhile.
func (p *Partition) unlessReplaced(look func() error) error {
	for {
		segments := p.segments.Load()
		if err := look(); !isGone(err) || segments == p.segments.Load() {
			return err
		}
	}
}

// readError explains a file that has gone: the log start passed it, or the partition was closed.
func (p *Partition) readError(offset int64, err error) error {
	if !isGone(err) {
		return err
	}
	if start := p.logStart.Load(); offset < start {
		return fmt.Errorf("offset %d is below the log start %d: %w", offset, start, ErrOffsetOutOfRange)
	}
	if ended := p.Err(); errors.Is(ended, ErrClosed) {
		return ended
	}
	return err
}

// segmentsFrom cuts the list to the segments that may hold offset or what follows it.
func segmentsFrom(segments []*segment, offset int64) []*segment {
	i := sort.Search(len(segments), func(i int) bool { return segments[i].base > offset })
	return segments[max(i-1, 0):]
}

// read returns nil when the segment has no batch at or behind offset that readers may see. limit is an offset where a batch begins, or the log start.
func (s *segment) read(offset, limit int64, o ReadOptions) (*Section, error) {
	if s.end.Load() <= offset {
		return nil, nil
	}
	file, err := s.log.acquire()
	if err != nil {
		return nil, s.fail("open segment", err)
	}
	position, first, err := s.locate(file, offset)
	if err != nil {
		s.log.release()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	left, err := s.readable(file, limit, o.Committed)
	if err != nil {
		s.log.release()
		return nil, err
	}
	if left -= position; left <= 0 {
		s.log.release()
		return nil, nil // compaction has taken all from offset to limit
	}
	size := min(left, int64(max(o.MaxBytes, 0)), math.MaxInt32)
	if size < first && o.AtLeastOneBatch {
		size = first
	}
	if size <= 0 {
		s.log.release()
		return nil, nil
	}
	return &Section{segment: s, file: file, offset: position, size: size, more: size < left}, nil
}

// readable is how many bytes of the segment may be read below limit. The last stable offset may lie inside of what is committed: there begins
// the first batch of a transaction, or what was published after the caller looked.
func (s *segment) readable(file vfs.File, limit int64, committed bool) (int64, error) {
	bytes := s.committed.Load()
	if !committed || s.reaching.Load() <= limit {
		return bytes, nil
	}
	position, err := s.index.position(uint32(min(max(limit-s.base, 0), math.MaxUint32)), &s.offsets)
	if err != nil {
		return 0, s.fail("read index", err)
	}
	err = s.scan(file, position, func(header batch.Batch, position, _ int64) bool {
		if header.BaseOffset() < limit {
			return true
		}
		bytes = min(bytes, position)
		return false
	})
	return bytes, err
}
