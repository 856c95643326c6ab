package storage

import (
	"errors"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A sync of a file that became longer waits for the file system's record of its length, too. So a file that is written in small pieces is made longer
// ahead of them, with zeros: the pieces after it, until they reach the end, change nothing but blocks that hold data already.
const (
	// smallWrite is up to which size, in bytes, that pays: larger writes would rather not be written twice.
	smallWrite = 32 << 10
	// mostAhead is how many zeros are written at once, and as many as the file holds bytes at most: what holds little takes little.
	mostAhead = 256 << 10
	// fileBlock is what a file system gives out at least, so that its last block costs nothing to fill.
	fileBlock = 4 << 10
)

// extend writes zeros behind a write that has made the file longer, to be synced with it. The commit after it writes over zeros that are synced: no
// position is written twice between two syncs. Nothing depends on the zeros being there. A taker's scan ends at them as it does at the end of the file,
// since no batch begins with a zero where its magic is; what a power cut leaves of a batch in them is told by its checksum, as it is behind the end of a
// file, which can grow without the bytes. Only the committer calls it.
func (s *segment) extend(file vfs.File, size, limit int64) {
	if size > smallWrite || s.written <= s.ahead || s.inert {
		return
	}
	extender, can := file.(vfs.Extender)
	until := s.written + min(s.written, mostAhead)
	until = min((until+fileBlock-1)/fileBlock*fileBlock, limit)
	if !can || until <= s.written {
		return
	}
	switch err := extender.Extend(s.written, until-s.written); {
	case err == nil:
		s.ahead = until
	case errors.Is(err, vfs.ErrNoPreallocation):
		s.inert = true // to ask costs a call, which a file server answers
	default:
		s.ahead = limit // never again in this segment, but some may be there
	}
}

// cutZeros ends the file behind its last batch, durably. What follows a segment relies on it: of all but the last segment a later leader counts every
// byte. The committer calls it before it makes the next segment's file, and a recovery point reaches that only behind its first commit.
func (s *segment) cutZeros() error {
	if s.ahead <= s.written {
		return nil
	}
	file, err := s.log.acquire()
	if isGone(err) {
		return nil // the log start has passed the segment: nobody looks at it again
	}
	if err != nil {
		return s.fail("open segment", err)
	}
	defer s.log.release()
	if extender, can := file.(vfs.Extender); can {
		err = extender.Truncate(s.written)
	}
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return s.fail("cut zeros off", err)
	}
	s.ahead = s.written
	return nil
}

// onlyZeros reports whether the file holds nothing else from one position to another: what was made longer ahead of its batches.
func onlyZeros(file vfs.File, from, until int64) (bool, error) {
	buffer := make([]byte, 64<<10)
	for from < until {
		piece := buffer[:min(int64(len(buffer)), until-from)]
		if n, err := file.ReadAt(piece, from); n < len(piece) {
			return false, err
		}
		for _, b := range piece {
			if b != 0 {
				return false, nil
			}
		}
		from += int64(len(piece))
	}
	return true, nil
}
