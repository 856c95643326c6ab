package vfs

import (
	"slices"

	"golang.org/x/sys/unix"
)

// zeroBytes is how many zeros one buffer holds.
const zeroBytes = 16 << 10

// Extend implements Extender where a file system writes blocks in place. One that writes elsewhere each time gains nothing, and over a network the
// zeros cost what they save.
func (f *osFile) Extend(off, size int64) error {
	var stat unix.Statfs_t
	if err := f.handle.use("stat file system of", "", func(fd int) error { return unix.Fstatfs(fd, &stat) }); err != nil {
		return err
	}
	if stat.Type != unix.EXT4_SUPER_MAGIC && stat.Type != unix.XFS_SUPER_MAGIC {
		return pathError("extend", f.handle.path, "", ErrNoPreallocation)
	}
	zeros := make([]byte, min(size, zeroBytes))
	buffers := slices.Repeat([][]byte{zeros}, int(size/zeroBytes))
	if rest := size % zeroBytes; rest > 0 {
		buffers = append(buffers, zeros[:rest])
	}
	_, err := f.WriteVec(buffers, off)
	return err
}

// Truncate implements Extender.
func (f *osFile) Truncate(size int64) error {
	return f.handle.use("truncate", "", func(fd int) error { return unix.Ftruncate(fd, size) })
}
