package storage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// tail is the end of a log that the last leader may not have made durable: what lies behind its recovery point. A taker
// copies it into its own first segment, or a few where offsets are far apart, the very bytes that it verified, and learns producers and leader epochs on the way.
type tail struct {
	epoch        Epoch
	end          int64 // offset behind the last valid batch
	epochs       leaderEpochs
	producers    producerTable
	transactions *transactions
	segments     []*segment // one's own, none while nothing was copied
	seen         int64
	interval     int
	ignored      int64 // bytes behind the last valid batch of a file
}

func newTail(old *manifest, epoch Epoch) tail {
	producers := newProducerTable(old.Producers)
	return tail{
		epoch:        epoch,
		end:          old.RecoveryPoint,
		epochs:       slices.Clone(old.LeaderEpochs),
		producers:    producers,
		transactions: newTransactions(producers),
		seen:         time.Now().UnixMilli(),
	}
}

// copyFrom walks the last epoch's segments from the recovery point on. The walk ends at the first gap or invalid batch: a commit syncs older
// segments before newer ones and appends nowhere twice, so whatever was acknowledged lies before it.
func (t *tail) copyFrom(dir vfs.Dir, old *manifest, names *partitionNames, interval int) error {
	t.interval = interval
	bases := names.bases(old.Epoch, old.RecoverySegment, math.MaxInt64)
	if old.Recovery.ValidBytes > 0 && old.RecoveryPoint > old.LogStart && !slices.Contains(bases, old.RecoverySegment) {
		name := segmentName{base: old.RecoverySegment, epoch: old.Epoch, suffix: logSuffix}
		return &CorruptionError{Dir: dir.Path(), File: name.String(), Offset: -1, Cause: "segment of the recovery point is missing"}
	}
	for _, base := range bases {
		from := int64(0)
		switch base {
		case old.RecoverySegment:
			from = old.Recovery.ValidBytes
		case t.end:
		default:
			return t.seal(dir)
		}
		err := t.copySegment(dir, segmentName{base: base, epoch: old.Epoch, suffix: logSuffix}, from)
		if isGone(err) && base == old.RecoverySegment && old.RecoveryPoint <= old.LogStart {
			continue // dead by the manifest: the old owner was still unlinking it when we listed
		}
		if err != nil {
			return err
		}
	}
	return t.seal(dir)
}

// copySegment copies the valid batches of one file from a position on.
func (t *tail) copySegment(dir vfs.Dir, name segmentName, from int64) error {
	file, err := dir.Open(name.String())
	if err != nil {
		return &StorageError{Op: "open segment", Path: dir.Path() + "/" + name.String(), Err: err}
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return &StorageError{Op: "measure segment", Path: dir.Path() + "/" + name.String(), Err: err}
	}
	if size < from {
		return &CorruptionError{Dir: dir.Path(), File: name.String(), Offset: size, Cause: "file is shorter than what was durable"}
	}
	reader := batchReader{file: file, position: from, size: size}
	for {
		run, err := reader.next(t.end)
		if errors.Is(err, errEndOfBatches) {
			return t.endSegment(dir, name, &reader)
		}
		if err != nil {
			return &StorageError{Op: "read segment", Path: dir.Path() + "/" + name.String(), Err: err}
		}
		if err := t.append(dir, run); err != nil {
			return err
		}
	}
}

// endSegment counts what is left of a file and no part of the log. Zeros are none of it: their writer was ahead of its batches.
func (t *tail) endSegment(dir vfs.Dir, name segmentName, reader *batchReader) error {
	end := reader.position - int64(len(reader.unread))
	zeros, err := onlyZeros(reader.file, end, reader.size)
	if err != nil {
		return &StorageError{Op: "read segment", Path: dir.Path() + "/" + name.String(), Err: err}
	}
	if !zeros {
		t.ignored += reader.size - end
	}
	return nil
}

// append writes a run of batches in one call, or a tail of small ones would take longer to write than to read, check and sync. There are more calls where
// the run does not fit one segment: the files that it is copied from may have been many.
func (t *tail) append(dir vfs.Dir, run []byte) error {
	for len(run) > 0 {
		s, err := t.segmentFor(dir, run)
		if err != nil {
			return err
		}
		position := s.size
		rest, err := t.learnFitting(s, run)
		if err != nil {
			return s.fail("copy tail", err)
		}
		if err := s.copyAt(run[:len(run)-len(rest)], position); err != nil {
			return err
		}
		run = rest
	}
	return nil
}

// segmentFor returns the last segment if it takes the first batch of a run, else a new one. The last one is then synced and closed: there may be many.
func (t *tail) segmentFor(dir vfs.Dir, run []byte) (*segment, error) {
	if last := t.last(); last != nil {
		b, _, err := batch.Next(run)
		if err != nil {
			return nil, last.fail("copy tail", err)
		}
		if last.fits(int64(len(b)), b.LastOffset(), math.MaxInt32) {
			return last, nil
		}
		if err := t.sealSegment(last, t.end); err != nil {
			return nil, err
		}
		last.log.closeUnused()
	}
	s := newSegment(dir, t.end, t.epoch, fileMissing)
	s.created = time.Now()
	t.segments = append(t.segments, s)
	return s, nil
}

// sealSegment makes what was copied into a segment durable, its name excepted.
func (t *tail) sealSegment(s *segment, end int64) error {
	if err := s.sync(); err != nil {
		return err
	}
	s.reaching.Store(end)
	s.committed.Store(s.size)
	s.end.Store(end)
	return nil
}

// last is the segment that grows, nil while nothing was copied.
func (t *tail) last() *segment {
	if len(t.segments) == 0 {
		return nil
	}
	return t.segments[len(t.segments)-1]
}

// learnFitting learns from the batches that the segment takes, and returns the others.
func (t *tail) learnFitting(s *segment, run []byte) (others []byte, err error) {
	for len(run) > 0 {
		b, rest, err := batch.Next(run)
		if err != nil || !s.fits(int64(len(b)), b.LastOffset(), math.MaxInt32) {
			return run, err
		}
		t.learn(s, b)
		run = rest
	}
	return nil, nil
}

func (s *segment) copyAt(run []byte, position int64) error {
	file, err := s.log.acquire()
	if err != nil {
		return s.fail("make segment", err)
	}
	defer s.log.release()
	if _, err := file.WriteAt(run, position); err != nil {
		return s.fail("copy tail", err)
	}
	return nil
}

// learn takes up what a copied batch says: its place, its epoch, and what it did to its producer.
func (t *tail) learn(s *segment, b batch.Batch) {
	entry := offsetEntry{relative: uint32(b.LastOffset() - s.base), position: uint32(s.size)}
	s.index.add(entry, recordTimestamp(b), int64(len(b)), t.interval)
	s.size += int64(len(b))
	t.epochs = t.epochs.note(Epoch(b.LeaderEpoch()), b.BaseOffset())
	t.note(s, b)
	t.end = b.LastOffset() + 1
}

// note replays what the batch did to its producer.
func (t *tail) note(s *segment, b batch.Batch) {
	marker, _ := markerOf(b) // Append lets none in that cannot be read
	if aborted, is := t.transactions.note(t.producers, b, marker, t.seen); is {
		s.aborted.add(aborted)
	}
}

// seal makes the copy durable, its name included, before any manifest can refer to it: a manifest that survives a crash
// without the copy would hide the old tail.
func (t *tail) seal(dir vfs.Dir) error {
	last := t.last()
	if last == nil {
		return nil
	}
	if err := t.sealSegment(last, t.end); err != nil {
		return err
	}
	if err := dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: dir.Path(), Err: err}
	}
	t.transactions.advance(t.end)
	return nil
}

// size is the bytes of all that was copied.
func (t *tail) size() int64 {
	var size int64
	for _, s := range t.segments {
		size += s.size
	}
	return size
}

// errEndOfBatches: the file has no further valid batch that continues the log.
var errEndOfBatches = errors.New("no further valid batch")

// batchReader reads runs of whole batches and trusts none: it ends at the first that is short, malformed, fails its checksum, or
// does not begin at the next offset.
type batchReader struct {
	file     vfs.File
	position int64
	size     int64
	unread   []byte
}

// next returns the batches from offset on that one read has brought, at least one. The view is valid until the next call.
func (r *batchReader) next(offset int64) ([]byte, error) {
	for {
		run, err := r.run(offset)
		if len(run) > 0 {
			return run, nil
		}
		if !errors.Is(err, batch.ErrTruncated) {
			return nil, errEndOfBatches
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// run takes the valid batches from offset on off what is unread, and tells why it ends.
func (r *batchReader) run(offset int64) ([]byte, error) {
	all := r.unread
	for {
		b, rest, err := batch.Next(r.unread)
		if err == nil && (b.BaseOffset() != offset || !b.ValidCRC()) {
			err = errEndOfBatches
		}
		if err != nil {
			return all[:len(all)-len(r.unread)], err
		}
		r.unread, offset = rest, b.LastOffset()+1
	}
}

const readChunk = 1 << 20

// fill reads on. The buffer grows to hold one batch whatever its size, but never beyond what the file has left,
// so that a torn length cannot claim memory.
func (r *batchReader) fill() error {
	left := r.size - r.position
	if left == 0 {
		return errEndOfBatches
	}
	want := int64(readChunk)
	if len(r.unread) > batch.HeaderSize {
		want = max(want, batchSize(r.unread)-int64(len(r.unread)))
	}
	want = min(want, left)
	buf := make([]byte, int64(len(r.unread))+want)
	kept := copy(buf, r.unread)
	n, err := r.file.ReadAt(buf[kept:], r.position)
	if err != nil && !(errors.Is(err, io.EOF) && int64(n) == want) {
		return fmt.Errorf("read at %d: %w", r.position, orUnexpectedEOF(err))
	}
	r.position += int64(n)
	r.unread = buf
	return nil
}

// removeNames unlinks files that no later leader reads. What is already gone is as good.
func removeNames(dir vfs.Dir, names []string) error {
	for _, name := range names {
		if err := dir.Remove(name); err != nil && !isGone(err) {
			return &StorageError{Op: "remove", Path: dir.Path() + "/" + name, Err: err}
		}
	}
	return nil
}
