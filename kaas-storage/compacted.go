package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// compactedFile is a file of compaction that counts. What of [Base, End) is not in it is gone for good.
type compactedFile struct {
	Base       int64  `json:"base"`
	End        int64  `json:"end"` // exclusive; other files end at Base and begin at End
	Epoch      Epoch  `json:"epoch"`
	Generation uint32 `json:"generation"`
	indexState
}

// validateCompacted wants the ranges in order, above the log start and below the segment that the recovery point is in: that one is a taker's to scan.
func (m *manifest) validateCompacted() error {
	next := int64(0)
	for _, c := range m.Compacted {
		if c.Base < next || c.End <= c.Base || c.End <= m.LogStart || c.End > m.RecoverySegment ||
			c.Epoch < 0 || c.Epoch > m.Epoch || c.Generation == 0 || !c.possible() {
			return fmt.Errorf("impossible compacted file at offset %d", c.Base)
		}
		next = c.End
	}
	if m.Cleaned < 0 || m.Cleaned > next {
		return errors.New("compaction has seen keys behind its files")
	}
	return nil
}

func (m *manifest) pruneCompacted() {
	m.Compacted = slices.DeleteFunc(slices.Clone(m.Compacted), func(c compactedFile) bool { return c.End <= m.LogStart })
	if len(m.Compacted) == 0 {
		m.Compacted, m.Cleaned = nil, 0
	}
}

// replace puts the files of a compaction in the place of those that it read.
func (m *manifest) replace(outputs []compactedFile, cleaned int64) {
	first, end := outputs[0].Base, outputs[len(outputs)-1].End
	kept := slices.DeleteFunc(slices.Clone(m.Compacted), func(c compactedFile) bool { return c.Base >= first && c.End <= end })
	at := 0
	for at < len(kept) && kept[at].Base < first {
		at++
	}
	m.Compacted, m.Cleaned = slices.Insert(kept, at, outputs...), cleaned
}

// replaced reports whether a compacted file stands for the file that begins at base. Compaction replaces whole files.
func (m *manifest) replaced(base int64) bool {
	for _, c := range m.Compacted {
		if base < c.End {
			return base >= c.Base
		}
	}
	return false
}

// untilCompacted is where the next compacted file begins, if that is before end: the file that another one was followed by may be gone.
func (m *manifest) untilCompacted(base, end int64) int64 {
	for _, c := range m.Compacted {
		if c.Base > base {
			return min(c.Base, end)
		}
	}
	return end
}

// inherit opens the file for reading by another leadership.
func (c compactedFile) inherit(dir vfs.Dir, names *partitionNames) (*segment, error) {
	s := newCompacted(dir, c.Base, c.Epoch, c.Generation, fileInherited)
	err := s.inherit(dir, chainEntry{LastSegment: c.Base, indexState: c.indexState}, c.End, names)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.corrupt(-1, "compacted file is missing")
	}
	return s, err
}

// placeSegments lists the files that hold the log up to one's own epoch, in order: compacted ones, and those of the chain that none of these replaces.
func placeSegments(dir vfs.Dir, m *manifest, names *partitionNames) ([]*segment, error) {
	var segments []*segment
	for _, c := range m.Compacted {
		s, err := c.inherit(dir, names)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	for _, entry := range m.Chain {
		found, err := chainSegments(dir, entry, names, m)
		if err != nil {
			return nil, err
		}
		segments = append(segments, found...)
	}
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.base, b.base) })
	for i := len(segments) - 2; i >= 0; i-- {
		// A file of compaction is younger than its records are.
		if next := segments[i+1].created; segments[i].created.After(next) {
			segments[i].created = next
		}
	}
	return segments, m.joined(dir, segments)
}

// joined wants every offset from the log start to one's own first in a file: a gap would read as compacted.
func (m *manifest) joined(dir vfs.Dir, segments []*segment) error {
	next := m.LogStart
	for i, s := range segments {
		if s.base > next || i > 0 && s.base != next {
			return m.missingSegment(dir, next)
		}
		next = s.end.Load()
	}
	if next < m.OwnFirst {
		return m.missingSegment(dir, next)
	}
	return nil
}

// missingSegment: one between those that are there shows when it is read, because its neighbor does not reach so far.
func (m *manifest) missingSegment(dir vfs.Dir, offset int64) error {
	name := segmentName{base: offset, suffix: logSuffix}
	for _, entry := range m.Chain {
		if offset >= entry.First && offset < entry.End {
			name.epoch = entry.Epoch
		}
	}
	return &CorruptionError{Dir: dir.Path(), File: name.String(), Offset: -1, Cause: "no file holds this offset of the log"}
}
