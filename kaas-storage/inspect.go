package storage

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Inspection is what a partition's directory says about its log, read without a claim and without changing anything. Of a partition that is led
// meanwhile it is a view that may be torn: files that its leader removes are missing, what it appends may end in the middle of a batch.
type Inspection struct {
	Claims       []string        `json:"claims"`
	Manifest     string          `json:"manifest"` // the one that counts
	Epoch        Epoch           `json:"epoch"`
	LogStart     int64           `json:"logStart"`
	Recovery     RecoveryPoint   `json:"recoveryPoint"`
	LeaderEpochs []LeaderEpoch   `json:"leaderEpochs"`
	Producers    []ProducerState `json:"producers"`
	Segments     []SegmentInfo   `json:"segments"`
	Garbage      []string        `json:"garbage"` // files that nobody reads any more

	dir      vfs.Dir
	manifest *manifest
	segments []*segment
}

// RecoveryPoint is where a takeover begins to scan.
type RecoveryPoint struct {
	Offset  int64  `json:"offset"`
	Segment string `json:"segment"` // empty when no batch of the newest epoch is below it
	Bytes   int64  `json:"bytes"`   // position in the segment
}

// LeaderEpoch says at which offset the records of an epoch begin.
type LeaderEpoch struct {
	Epoch Epoch `json:"epoch"`
	First int64 `json:"first"`
}

// SegmentInfo is one file of the log.
type SegmentInfo struct {
	Name  string `json:"name"`
	Base  int64  `json:"base"`
	Epoch Epoch  `json:"epoch"`
	End   int64  `json:"end"`   // offset behind its last record; -1 for those of the newest epoch, which is open
	Valid int64  `json:"valid"` // bytes that count, of an open epoch all that are there
	Bytes int64  `json:"bytes"` // of the file
}

// Inspect reads the names and the manifest. dir must stay open while the Inspection is used.
//
// Errors: ErrNoManifest, ErrFutureVersion, *CorruptionError, *StorageError.
func Inspect(dir vfs.Dir) (*Inspection, error) {
	names, err := listPartition(dir)
	if err != nil {
		return nil, err
	}
	i := &Inspection{dir: dir}
	for _, number := range names.claims {
		i.Claims = append(i.Claims, claimName(number))
	}
	if len(names.manifests) == 0 {
		return i, fmt.Errorf("%s: %w", dir.Path(), ErrNoManifest)
	}
	if i.manifest, err = readManifest(dir, names.manifests[len(names.manifests)-1]); err != nil {
		return i, err
	}
	i.describe()
	if err := i.findSegments(names); err != nil {
		return i, err
	}
	// What ranks below the newest epoch and is named by nothing; what its own writer has not named yet counts as part of the log.
	i.Garbage = names.garbage(i.manifest, i.segments)
	return i, nil
}

func (i *Inspection) describe() {
	m := i.manifest
	i.Manifest, i.Epoch, i.LogStart = manifestName(m.Epoch), m.Epoch, m.LogStart
	i.Recovery = RecoveryPoint{Offset: m.RecoveryPoint, Bytes: m.Recovery.ValidBytes}
	if base, found := m.lastSegment(); found {
		i.Recovery.Segment = segmentName{base: base, epoch: m.Epoch, suffix: logSuffix}.String()
	}
	for _, e := range m.LeaderEpochs {
		i.LeaderEpochs = append(i.LeaderEpochs, LeaderEpoch(e))
	}
	i.Producers = newProducerTable(m.Producers).states()
}

// findSegments lists the files of the chain and of compaction, as a takeover does, and those of the newest epoch.
func (i *Inspection) findSegments(names *partitionNames) error {
	var err error
	if i.segments, err = placeSegments(i.dir, i.manifest, names); err != nil {
		return err
	}
	bases := names.bases(i.manifest.Epoch, i.manifest.OwnFirst, math.MaxInt64)
	for number, base := range bases {
		next := int64(math.MaxInt64)
		if number+1 < len(bases) {
			next = bases[number+1]
		}
		if i.manifest.untilCompacted(base, next) <= i.manifest.LogStart {
			continue // dead, and not yet unlinked
		}
		if i.manifest.replaced(base) {
			continue
		}
		s := newSegment(i.dir, base, i.manifest.Epoch, fileInherited)
		if err := s.inheritOpen(i.dir, i.manifest, names); err != nil {
			return err
		}
		i.segments = append(i.segments, s)
	}
	for _, s := range i.segments {
		size, err := sizeOf(i.dir, s.log.name)
		if err != nil {
			return &StorageError{Op: "measure segment", Path: i.dir.Path(), Err: err}
		}
		i.Segments = append(i.Segments, SegmentInfo{s.log.name.String(), s.base, s.epoch, s.end.Load(), s.size, size})
	}
	return nil
}

// openEnd stands for the end of a segment that its epoch may go on writing to.
const openEnd = -1

// inheritOpen counts what is there of a segment of the newest epoch, and of its indexes what the manifest vouches for.
func (s *segment) inheritOpen(dir vfs.Dir, m *manifest, names *partitionNames) error {
	size, err := sizeOf(dir, s.log.name)
	if err != nil {
		return &StorageError{Op: "measure segment", Path: dir.Path(), Err: err}
	}
	s.size = size
	s.committed.Store(size)
	s.end.Store(openEnd)
	if s.base == m.RecoverySegment && m.RecoveryPoint <= m.LogStart {
		return nil // perhaps dead: its indexes go at once, the log when its last reader has left it
	}
	if s.base == m.RecoverySegment {
		s.aborted.stored = m.Recovery.AbortedEntries
		return s.inheritIndexes(dir, m.Recovery)
	}
	if s.base > m.RecoverySegment {
		return nil
	}
	if err := s.inheritAborted(dir, names, math.MaxInt64); err != nil {
		return err
	}
	return s.inheritIndexes(dir, indexState{ValidBytes: size, OffsetEntries: math.MaxInt64, TimeEntries: math.MaxInt64})
}

// PlacedBatch is a batch and the position of its first byte in its file.
type PlacedBatch struct {
	Position int64
	Batch    batch.Batch // valid until the next one
}

// Batches walks the valid bytes of one of Segments, named by its index. An error is the last thing that comes; it is a *CorruptionError where the
// bytes are no batches. Checksums are not looked at.
func (i *Inspection) Batches(segment int) iter.Seq2[PlacedBatch, error] {
	s := i.segments[segment]
	return func(yield func(PlacedBatch, error) bool) {
		file, err := i.dir.Open(s.log.name.String())
		if err != nil {
			yield(PlacedBatch{}, s.fail("open segment", err))
			return
		}
		defer file.Close()
		s.walk(file, yield)
	}
}

func (s *segment) walk(file vfs.File, yield func(PlacedBatch, error) bool) {
	reader := batchReader{file: file, size: s.size}
	for {
		position := reader.position - int64(len(reader.unread))
		b, rest, err := batch.Next(reader.unread)
		switch {
		case err == nil:
			reader.unread = rest
			if !yield(PlacedBatch{position, b}, nil) {
				return
			}
			continue
		case !errors.Is(err, batch.ErrTruncated):
			s.walkEnds(file, position, err, yield)
			return
		}
		switch err := reader.fill(); {
		case err == nil:
		case !errors.Is(err, errEndOfBatches):
			yield(PlacedBatch{Position: position}, s.fail("read segment", err))
			return
		default:
			s.walkEnds(file, position, io.ErrUnexpectedEOF, yield)
			return
		}
	}
}

// walkEnds says why no further batch comes, unless the file is at its end, or was made longer ahead of batches that are still to come.
func (s *segment) walkEnds(file vfs.File, position int64, cause error, yield func(PlacedBatch, error) bool) {
	zeros, err := onlyZeros(file, position, s.size)
	switch {
	case err != nil:
		yield(PlacedBatch{Position: position}, s.fail("read segment", err))
	case position < s.size && (!zeros || s.end.Load() != openEnd):
		yield(PlacedBatch{Position: position}, s.corrupt(position, cause.Error()))
	}
}
