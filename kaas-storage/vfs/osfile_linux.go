package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// vectorLimit is Linux's IOV_MAX.
	vectorLimit = 1024
	// writeLimit bounds the bytes of one system call. Larger buffered writes cost several times the processor time
	// per byte on current kernels, whose page cache then works with folios above 2 MiB.
	writeLimit = 1 << 20
)

// osFile is an opened file of the real file system.
type osFile struct {
	handle *descriptor
	name   string
}

func (f *osFile) Name() string     { return f.name }
func (f *osFile) OSFile() *os.File { return f.handle.file }
func (f *osFile) Close() error     { return f.handle.close() }

func (f *osFile) ReadAt(p []byte, off int64) (int, error)  { return f.handle.file.ReadAt(p, off) }
func (f *osFile) WriteAt(p []byte, off int64) (int, error) { return f.handle.file.WriteAt(p, off) }

// WriteVec implements File with pwritev, going on after a short write.
func (f *osFile) WriteVec(bufs [][]byte, off int64) (int64, error) {
	var written int64
	err := f.handle.use("write", "", func(fd int) error {
		n, err := writeVec(unix.Pwritev, fd, bufs, off, written)
		written = n
		return err
	})
	return written, err
}

// writeVec writes what comes after the first done bytes of bufs, which lies at
// off+done, and returns how many are written now.
func writeVec(write vectorWrite, fd int, bufs [][]byte, off, done int64) (int64, error) {
	rest, skip := bufs, done
	for {
		for len(rest) > 0 && skip >= int64(len(rest[0])) {
			skip -= int64(len(rest[0]))
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return done, nil
		}
		n, err := write(fd, nextVector(rest, skip), off+done)
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.ErrShortWrite
		}
		done += int64(n)
		skip += int64(n)
	}
}

// nextVector returns what one call writes: whole buffers within the limits, or a piece of the first one if that is larger or partly written.
func nextVector(rest [][]byte, skip int64) [][]byte {
	if first := rest[0][skip:]; skip > 0 || len(first) > writeLimit {
		return [][]byte{first[:min(len(first), writeLimit)]}
	}
	count, size := 0, 0
	for count < min(len(rest), vectorLimit) && size+len(rest[count]) <= writeLimit {
		size += len(rest[count])
		count++
	}
	return rest[:count]
}

// vectorWrite is pwritev.
type vectorWrite func(fd int, bufs [][]byte, off int64) (int, error)

func (f *osFile) Sync() error { return f.handle.use("sync", "", unix.Fdatasync) }

func (f *osFile) Size() (int64, error) {
	stat, err := f.handle.stat("stat", "", unix.AT_EMPTY_PATH)
	return int64(stat.Size), err
}
