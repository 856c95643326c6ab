package vfs

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// vectorLimit is Linux's IOV_MAX.
const vectorLimit = 1024

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
		next := rest[:min(len(rest), vectorLimit)]
		if skip > 0 {
			// A buffer that is partly written is finished alone.
			next = [][]byte{rest[0][skip:]}
		}
		n, err := write(fd, next, off+done)
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

// vectorWrite is pwritev.
type vectorWrite func(fd int, bufs [][]byte, off int64) (int, error)

func (f *osFile) Sync() error { return f.handle.use("sync", "", unix.Fdatasync) }

func (f *osFile) Size() (int64, error) {
	stat, err := f.handle.stat("stat", "", unix.AT_EMPTY_PATH)
	return int64(stat.Size), err
}
