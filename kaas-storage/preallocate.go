package storage

import "github.com/kaas-rs/kaas/kaas-storage/vfs"

// preallocated is how many bytes of blocks a log file reserves ahead of what is written, once it holds as much: appending to reserved blocks costs the
// file system less than finding room for each 4 KiB of a write. So a segment takes at most this much, and at most as much again as it holds, without using it.
const preallocated = 8 << 20

// preallocate reserves blocks for a write of size bytes at position and for what follows it. Nothing depends on it: the file's size and contents are the
// same with and without, on the disk, too, and an error, which the write would meet as well, is the write's to report. Only the committer calls it.
func (s *segment) preallocate(file vfs.File, position, size, limit int64) {
	if position < preallocated || position+size <= s.reserved {
		return
	}
	reserving, can := file.(vfs.Preallocator)
	if !can {
		s.reserved = limit
		return
	}
	from := max(position, s.reserved)
	until := min(max(limit, position+size), position+size+preallocated)
	if err := reserving.Preallocate(from, until-from); err != nil {
		until = max(limit, until) // never again in this segment: the volume is nearly full, or cannot do it
	}
	s.reserved = until
}
