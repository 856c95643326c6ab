package storage

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// AbortedTransaction is a transaction of this partition that ended in an abort. Readers of committed records leave its batches out.
type AbortedTransaction struct {
	ProducerID  int64
	FirstOffset int64 // of its first batch
	LastOffset  int64 // of its marker
	LastStable  int64 // the last stable offset behind its marker: what is aborted later begins there or behind
}

// abortedEntrySize is that of Kafka's AbortedTxn: version 0 as int16, then producer id, first, last and last stable offset as int64.
const (
	abortedEntrySize    = 34
	abortedEntryVersion = 0
)

// abortedIndex lists the aborted transactions whose markers are in one segment, ascending by marker. The first ones are in its file, the newest in
// memory until the recovery point moves. It cannot be done without, as the other indexes can: a reader would take what was aborted for committed.
type abortedIndex struct {
	mu     sync.Mutex
	stored int64 // how many entries the file holds
	recent []AbortedTransaction
}

func (x *abortedIndex) add(a AbortedTransaction) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recent = append(x.recent, a)
}

// pending copies the entries below offset that are not in the file yet.
func (x *abortedIndex) pending(offset int64) []AbortedTransaction {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := sort.Search(len(x.recent), func(i int) bool { return x.recent[i].LastOffset >= offset })
	return append([]AbortedTransaction(nil), x.recent[:n]...)
}

// written drops what pending returned, now that the file holds it.
func (x *abortedIndex) written(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stored += int64(n)
	x.recent = append([]AbortedTransaction(nil), x.recent[n:]...)
}

func (x *abortedIndex) count() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stored
}

// view returns what the file holds and what it does not.
func (x *abortedIndex) view() (stored int64, recent []AbortedTransaction) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stored, x.recent // its elements never change
}

func encodeAborted(entries []AbortedTransaction) []byte {
	b := make([]byte, 0, len(entries)*abortedEntrySize)
	for _, e := range entries {
		b = binary.BigEndian.AppendUint16(b, abortedEntryVersion)
		for _, field := range [...]int64{e.ProducerID, e.FirstOffset, e.LastOffset, e.LastStable} {
			b = binary.BigEndian.AppendUint64(b, uint64(field))
		}
	}
	return b
}

func decodeAborted(b []byte) (AbortedTransaction, error) {
	if version := binary.BigEndian.Uint16(b); version != abortedEntryVersion {
		return AbortedTransaction{}, fmt.Errorf("entry has version %d", version)
	}
	var fields [4]int64
	for i := range fields {
		fields[i] = int64(binary.BigEndian.Uint64(b[2+8*i:]))
	}
	a := AbortedTransaction{ProducerID: fields[0], FirstOffset: fields[1], LastOffset: fields[2], LastStable: fields[3]}
	if a.ProducerID < 0 || a.FirstOffset < 0 || a.LastOffset <= a.FirstOffset || a.LastStable < 0 || a.LastStable > a.LastOffset+1 {
		return AbortedTransaction{}, fmt.Errorf("impossible entry %+v", a)
	}
	return a, nil
}

// AbortedIn lists the aborted transactions that overlap the offsets from from to below to, ascending by marker (Kafka's collectAbortedTransactions).
// Give it bounds that Read with ReadOptions.Committed has returned records for: behind the last stable offset nothing is decided. Ask it before the section is
// released: compaction forgets what is aborted once nobody reads a record of it. It works for as long as Read does.
//
// Errors: ErrOffsetOutOfRange, ErrClosed, *StorageError, *CorruptionError.
func (p *Partition) AbortedIn(from, to int64) ([]AbortedTransaction, error) {
	var found []AbortedTransaction
	err := p.unlessReplaced(func() (err error) {
		found, err = abortedIn(*p.segments.Load(), max(from, p.logStart.Load()), to)
		return err
	})
	if err != nil {
		return nil, p.readError(from, err)
	}
	return found, nil
}

// abortedIn begins in the segment that holds from: a marker lies behind the records that it ends. It goes on until an entry says that later ones
// begin behind to.
func abortedIn(segments []*segment, from, to int64) ([]AbortedTransaction, error) {
	var found []AbortedTransaction
	if from >= to {
		return found, nil
	}
	for i, s := range segmentsFrom(segments, from) {
		done := false
		err := s.visitAborted(from, func(a AbortedTransaction) bool {
			if a.LastOffset >= from && a.FirstOffset < to {
				found = append(found, a)
			}
			done = a.LastStable >= to
			return !done
		})
		if i > 0 {
			s.transactions.closeUnused() // a transaction that hung for long has any number of segments looked at
		}
		if err != nil || done {
			return found, err
		}
	}
	return found, nil
}

// visitAborted calls visit for each entry whose marker is at from or behind, until it returns false.
func (s *segment) visitAborted(from int64, visit func(AbortedTransaction) bool) error {
	stored, recent := s.aborted.view()
	if stored > 0 {
		more, err := s.visitStored(stored, from, visit)
		if err != nil || !more {
			return err
		}
	}
	for _, a := range recent {
		if a.LastOffset >= from && !visit(a) {
			return nil
		}
	}
	return nil
}

// abortedChunk is how many entries are read at once.
const abortedChunk = 120

func (s *segment) visitStored(stored, from int64, visit func(AbortedTransaction) bool) (more bool, err error) {
	file, err := s.transactions.acquire()
	if err != nil {
		return false, s.fail("open transaction index", err)
	}
	defer s.transactions.release()
	buf := make([]byte, min(stored, abortedChunk)*abortedEntrySize)
	read := func(at, n int64) ([]byte, error) {
		b := buf[:n*abortedEntrySize]
		if got, err := file.ReadAt(b, at*abortedEntrySize); got < len(b) {
			return nil, s.fail("read transaction index", orUnexpectedEOF(err))
		}
		return b, nil
	}
	next := int64(sort.Search(int(stored), func(i int) bool {
		if err != nil {
			return true
		}
		b, readErr := read(int64(i), 1)
		if err = readErr; err != nil {
			return true
		}
		entry, readErr := s.abortedEntry(b, int64(i))
		err = readErr
		return err != nil || entry.LastOffset >= from
	}))
	for ; err == nil && next < stored; next += abortedChunk {
		var chunk []byte
		if chunk, err = read(next, min(abortedChunk, stored-next)); err != nil {
			return false, err
		}
		for i := 0; i < len(chunk); i += abortedEntrySize {
			entry, err := s.abortedEntry(chunk[i:], next+int64(i/abortedEntrySize))
			if err != nil || !visit(entry) {
				return false, err
			}
		}
	}
	return err == nil, err
}

// abortedEntry decodes the entry of a number, whose marker must be in the segment.
func (s *segment) abortedEntry(b []byte, number int64) (AbortedTransaction, error) {
	a, err := decodeAborted(b)
	if err == nil && (a.LastOffset < s.base || a.LastOffset >= s.end.Load()) {
		err = fmt.Errorf("marker at offset %d is not in the segment", a.LastOffset)
	}
	if err != nil {
		return a, &CorruptionError{Dir: s.log.dir.Path(), File: s.transactions.name.String(), Offset: number * abortedEntrySize, Cause: err.Error()}
	}
	return a, nil
}

// inheritAborted counts the entries that another epoch left. The names were listed after its last write, so a file that is not among them is not there.
func (s *segment) inheritAborted(dir vfs.Dir, names *partitionNames, counted int64) error {
	found := int64(0)
	if slices.Contains(names.segments, s.transactions.name) {
		bytes, err := sizeOf(dir, s.transactions.name)
		if err != nil {
			return &StorageError{Op: "measure transaction index", Path: dir.Path(), Err: err}
		}
		if found = bytes / abortedEntrySize; counted == math.MaxInt64 && bytes%abortedEntrySize != 0 {
			return s.lostAborted(bytes, "file ends inside an entry")
		}
	}
	if counted != math.MaxInt64 && found < counted {
		return s.lostAborted(found*abortedEntrySize, fmt.Sprintf("%d entries of %d that were durable", found, counted))
	}
	s.aborted.stored = min(found, counted)
	return nil
}

func (s *segment) lostAborted(at int64, cause string) error {
	return &CorruptionError{Dir: s.log.dir.Path(), File: s.transactions.name.String(), Offset: at, Cause: cause}
}
