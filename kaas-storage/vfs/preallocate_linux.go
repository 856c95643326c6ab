package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Preallocate implements Preallocator with fallocate, which leaves the file's size alone.
func (f *osFile) Preallocate(off, size int64) error {
	err := f.handle.use("preallocate", "", func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, size) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return pathError("preallocate", f.handle.path, "", ErrNoPreallocation)
	}
	return err
}
