package storage

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Finding is something that Verify has met.
type Finding struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // byte position in the file, -1 when the file as a whole is meant
	What   string `json:"what"`
	// Damage: the log is not what was written. Otherwise it is what a crash, or an owner who is still at work, leaves by right.
	Damage bool `json:"damage"`
}

// Verify reads the whole log and compares checksums, offsets, the manifest's chain, leader epochs and indexes. It changes nothing. report is called
// for each finding; the error is a *StorageError when the reading failed. What lies behind the recovery point ends at the first batch that is not
// valid, as for a takeover, and that is no damage.
func (i *Inspection) Verify(report func(Finding)) error {
	v := &verifier{inspection: i, report: report, next: -1}
	for _, s := range i.segments {
		if err := v.segment(s); err != nil {
			return err
		}
		if v.ended {
			break
		}
	}
	m := i.manifest
	if v.next < m.RecoveryPoint && m.RecoveryPoint > m.LogStart {
		v.damagedf(i.Manifest, -1, "the log ends at offset %d, below the recovery point %d", max(v.next, 0), m.RecoveryPoint)
	}
	return nil
}

// verifier walks the log in order.
type verifier struct {
	inspection *Inspection
	report     func(Finding)
	next       int64 // offset that the next batch begins at; -1 before the first
	ended      bool  // at a batch behind the recovery point that is not valid
}

func (v *verifier) damagedf(file string, offset int64, format string, values ...any) {
	v.report(Finding{file, offset, fmt.Sprintf(format, values...), true})
}

func (v *verifier) segment(s *segment) error {
	name := s.log.name.String()
	m := v.inspection.manifest
	own := s.epoch == m.Epoch
	switch {
	case v.next < 0 && s.base <= max(m.LogStart, m.OwnFirst):
	case v.next == s.base:
	case own && s.base > m.RecoverySegment:
		v.tailEnds(name, -1, fmt.Sprintf("begins at offset %d, the log before it ends at %d", s.base, v.next))
		return nil
	default:
		v.damagedf(name, -1, "begins at offset %d, the log before it ends at %d", s.base, v.next)
	}
	v.next = s.base
	file, err := v.inspection.dir.Open(name)
	if err != nil {
		return s.fail("open segment", err)
	}
	defer file.Close()
	offsets, times, err := v.openIndexes(s)
	if err != nil {
		return err
	}
	if err := v.batches(s, file, offsets, times); err != nil || v.ended {
		return err
	}
	offsets.finish(v)
	times.finish(v)
	if end := s.end.Load(); end != openEnd && v.next != end {
		if v.next > end || !s.compacted() {
			v.damagedf(name, s.size, "ends at offset %d, the chain says %d", v.next, end)
		}
		v.next = end
	}
	return v.aborted(s)
}

// batches walks one file up to its valid bytes.
func (v *verifier) batches(s *segment, file vfs.File, offsets, times *indexCheck) error {
	name := s.log.name.String()
	var failed error
	s.walk(file, func(placed PlacedBatch, err error) bool {
		if err == nil {
			err = v.wrong(s, placed)
		}
		corrupt := (*CorruptionError)(nil)
		switch {
		case err == nil:
		case !errors.As(err, &corrupt):
			failed = err
			return false
		case v.behindRecoveryPoint(s, placed.Position):
			v.tailEnds(name, placed.Position, corrupt.Cause)
			return false
		default:
			v.damagedf(name, placed.Position, "%s", corrupt.Cause)
			if placed.Batch == nil {
				return false // nobody knows where the next one begins
			}
		}
		b := placed.Batch
		relative := uint32(b.LastOffset() - s.base)
		offsets.pass(v, placed.Position, relative)
		times.pass(v, recordTimestamp(b), relative)
		v.next = b.LastOffset() + 1
		return true
	})
	return failed
}

// wrong compares a batch with what its place asks for.
func (v *verifier) wrong(s *segment, placed PlacedBatch) error {
	b := placed.Batch
	m := v.inspection.manifest
	switch {
	case !b.ValidCRC():
		return s.corrupt(placed.Position, "checksum of the batch is wrong")
	case b.BaseOffset() < v.next || b.BaseOffset() > v.next && !s.compacted():
		return s.corrupt(placed.Position, fmt.Sprintf("batch begins at offset %d instead of %d", b.BaseOffset(), v.next))
	case b.LastOffset() >= m.LogStart && b.LastOffset() < m.RecoveryPoint:
		if known := m.LeaderEpochs.holder(b.LastOffset()); known != Epoch(b.LeaderEpoch()) {
			return s.corrupt(placed.Position, fmt.Sprintf("batch has leader epoch %d, the manifest says %d", b.LeaderEpoch(), known))
		}
	}
	return nil
}

// behindRecoveryPoint: what is there counts as far as it is valid, and what its writer is about to write is not there yet.
func (v *verifier) behindRecoveryPoint(s *segment, position int64) bool {
	m := v.inspection.manifest
	return s.epoch == m.Epoch && (s.base > m.RecoverySegment || s.base == m.RecoverySegment && position >= m.Recovery.ValidBytes)
}

func (v *verifier) tailEnds(file string, position int64, what string) {
	v.ended = true
	v.report(Finding{file, position, fmt.Sprintf("the log ends here, at offset %d: %s", max(v.next, 0), what), false})
}

// aborted reads the transaction index, which no scan can replace.
func (v *verifier) aborted(s *segment) error {
	name := s.transactions.name.String()
	entries, err := readEntries(v.inspection.dir, name, abortedEntrySize, s.aborted.stored)
	if err != nil {
		return s.fail("read transaction index", err)
	}
	if int64(len(entries)) < s.aborted.stored {
		v.damagedf(name, -1, "holds %d entries of %d that were durable", len(entries), s.aborted.stored)
	}
	last := int64(-1)
	for number, entry := range entries {
		at := int64(number) * abortedEntrySize
		a, err := decodeAborted(entry)
		switch {
		case err != nil:
			v.damagedf(name, at, "%v", err)
		case a.LastOffset < s.base || a.LastOffset >= v.next || a.LastOffset <= last:
			v.damagedf(name, at, "marker at offset %d is not in the segment, or out of order", a.LastOffset)
		}
		last = a.LastOffset
	}
	return nil
}

// readEntries reads as many whole entries as count and the file allow.
func readEntries(dir vfs.Dir, name string, size, count int64) ([][]byte, error) {
	if count == 0 {
		return nil, nil
	}
	file, err := dir.Open(name)
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bytes, err := file.Size()
	if err != nil {
		return nil, err
	}
	data := make([]byte, min(count, bytes/size, math.MaxInt32/size)*size)
	if n, err := file.ReadAt(data, 0); n < len(data) && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	entries := make([][]byte, 0, int64(len(data))/size)
	for at := int64(0); at < int64(len(data)); at += size {
		entries = append(entries, data[at:at+size])
	}
	return entries, nil
}
