package vfs

import (
	"math/bits"
	"slices"
	"syscall"
)

// A file's bytes live in chunks that never move: growing allocates further
// chunks and copies nothing. The first chunk holds 4 KiB and together they double until 1 MiB is
// reached; from there on each holds 1 MiB. So a manifest costs little, and a
// segment wastes at most one chunk.
const (
	firstChunk   = 4 << 10
	largestChunk = 1 << 20
	// growingChunks is how many chunks lie below the first offset of largestChunk.
	growingChunks = 9
	// largestMemFile bounds the chunk table, which the budget does not count.
	largestMemFile = 16 << 30
)

// chunks is the content of one file. A chunk that was never written is nil and
// reads as zeros. Callers synchronize.
type chunks struct {
	parts     [][]byte
	size      int64
	allocated int64
}

// locate returns the chunk that holds an offset, that chunk's first offset and its length.
func locate(off int64) (index int, start, length int64) {
	switch {
	case off < firstChunk:
		return 0, 0, firstChunk
	case off < largestChunk:
		index = bits.Len64(uint64(off) / firstChunk)
		start = firstChunk << (index - 1)
		return index, start, start
	default:
		number := off/largestChunk - 1
		return growingChunks + int(number), (number + 1) * largestChunk, largestChunk
	}
}

// readAt copies what lies between off and the end of the file.
func (c *chunks) readAt(p []byte, off int64) int {
	if off >= c.size {
		return 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	for done := 0; done < len(p); {
		index, start, length := locate(off + int64(done))
		within := off + int64(done) - start
		wanted := p[done:min(int64(len(p)), int64(done)+length-within)]
		if index < len(c.parts) && c.parts[index] != nil {
			copy(wanted, c.parts[index][within:])
		} else {
			clear(wanted)
		}
		done += len(wanted)
	}
	return len(p)
}

// writeAt writes as much of p as the budget allows, like a disk that fills up
// in the middle of a write.
func (c *chunks) writeAt(space *budget, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, syscall.EINVAL
	}
	if int64(len(p)) > largestMemFile-off {
		return 0, syscall.EFBIG
	}
	done := 0
	for done < len(p) {
		part, err := c.writable(space, off+int64(done))
		if err != nil {
			return done, err
		}
		done += copy(part, p[done:])
		c.size = max(c.size, off+int64(done))
	}
	return done, nil
}

// writable returns the rest of the chunk that holds off, allocating it if need be.
func (c *chunks) writable(space *budget, off int64) ([]byte, error) {
	index, start, length := locate(off)
	if index >= len(c.parts) {
		c.parts = append(c.parts, make([][]byte, index+1-len(c.parts))...)
	}
	if c.parts[index] == nil {
		if !space.take(length) {
			return nil, syscall.ENOSPC
		}
		c.parts[index] = make([]byte, length)
		c.allocated += length
	}
	return c.parts[index][off-start:], nil
}

// truncate cuts the file to a size that is not above its own, and gives whole chunks behind it back.
func (c *chunks) truncate(space *budget, size int64) {
	for index, part := range c.parts {
		start := startOf(index)
		switch {
		case part == nil || start+int64(len(part)) <= size:
		case start >= size:
			space.give(int64(len(part)))
			c.allocated -= int64(len(part))
			c.parts[index] = nil
		default:
			clear(part[size-start:]) // what the file may grow over again reads as zeros
		}
	}
	c.size = size
}

// startOf returns the first offset of a chunk.
func startOf(index int) int64 {
	switch {
	case index == 0:
		return 0
	case index < growingChunks:
		return firstChunk << (index - 1)
	default:
		return int64(index-growingChunks+1) * largestChunk
	}
}

// release gives the bytes back.
func (c *chunks) release(space *budget) {
	space.give(c.allocated)
	*c = chunks{}
}

// clone copies the content.
func (c *chunks) clone() chunks {
	copied := *c
	copied.parts = make([][]byte, len(c.parts))
	for i, part := range c.parts {
		copied.parts[i] = slices.Clone(part)
	}
	return copied
}
