package storage

import (
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// reservations notes what is asked of it.
type reservations struct {
	vfs.File
	asked [][2]int64 // from, until
	err   error
}

func (r *reservations) Preallocate(off, size int64) error {
	r.asked = append(r.asked, [2]int64{off, off + size})
	return r.err
}

func TestPreallocation(t *testing.T) {
	const chunk, limit = preallocated, 10 * preallocated
	write := func(s *segment, r *reservations, from, until, size int64) {
		for at := from; at < until; at += size {
			s.preallocate(r, at, size, limit)
			if r.err == nil && at >= chunk && s.reserved < at+size {
				t.Fatalf("a write of %d bytes at %d is behind the %d reserved ones", size, at, s.reserved)
			}
		}
	}
	t.Run("nothing for a small segment", func(t *testing.T) {
		s, r := &segment{}, &reservations{}
		if write(s, r, 0, chunk, 1<<20); len(r.asked) != 0 {
			t.Errorf("reserved %v", r.asked)
		}
	})
	t.Run("ahead, each byte once, and not behind the end of the segment", func(t *testing.T) {
		s, r := &segment{}, &reservations{}
		write(s, r, 0, limit, 1<<20)
		if n := len(r.asked); n < 5 || n > 10 {
			t.Errorf("reserved %d times", n)
		}
		for i, asked := range r.asked {
			if i > 0 && asked[0] != r.asked[i-1][1] || asked[1] > limit || asked[1]-asked[0] > chunk+1<<20 {
				t.Errorf("reserved %v after %v", asked, r.asked[:i])
			}
		}
	})
	t.Run("a batch larger than a segment", func(t *testing.T) {
		s, r := &segment{}, &reservations{}
		s.preallocate(r, chunk, 2*limit, limit)
		if len(r.asked) != 1 || r.asked[0] != [2]int64{chunk, chunk + 2*limit} {
			t.Errorf("reserved %v", r.asked)
		}
	})
	t.Run("not tried again after an error", func(t *testing.T) {
		s, r := &segment{}, &reservations{err: errors.New("no room")}
		if write(s, r, chunk, limit, 1<<20); len(r.asked) != 1 {
			t.Errorf("tried %d times", len(r.asked))
		}
	})
	t.Run("a file system that cannot", func(t *testing.T) {
		(&segment{}).preallocate(nil, chunk, 1, limit)
	})
}
