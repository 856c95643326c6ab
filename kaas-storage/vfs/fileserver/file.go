package fileserver

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// file is an opened file.
type file struct {
	process   *Process
	node      *inode
	directory string
	name      string
	writable  bool
	closed    bool
}

func (f *file) Name() string     { return f.name }
func (f *file) OSFile() *os.File { return nil }

func (f *file) lock() func() {
	f.process.client.server.mu.Lock()
	return f.process.client.server.mu.Unlock
}

func (f *file) usable() error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.node.gone, f.node.removed && f.node.remover != f.process:
		return syscall.ESTALE
	}
	return nil
}

func (f *file) fail(operation string, err error) error {
	return pathError(operation, f.directory, f.name, err)
}

// content is the file as the client sees it: what it knew when it was last opened, where the policy wants it.
func (f *file) content() []byte {
	cached := f.process.client.file(f.node)
	if !recent(cached.at) || !decide(f.process.client.server.policy.Stale) {
		cached.revalidate(f.node)
	}
	return cached.view
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	defer f.lock()()
	if err := f.usable(); err != nil {
		return 0, f.fail("read", err)
	}
	if off < 0 {
		return 0, f.fail("read", syscall.EINVAL)
	}
	data := f.content()
	if off >= int64(len(data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.WriteVec([][]byte{p}, off)
	return int(n), err
}

func (f *file) WriteVec(bufs [][]byte, off int64) (int64, error) {
	defer f.lock()()
	if err := f.usable(); err != nil {
		return 0, f.fail("write", err)
	}
	if !f.writable {
		return 0, f.fail("write", syscall.EBADF)
	}
	if off < 0 {
		return 0, f.fail("write", syscall.EINVAL)
	}
	data := slices.Concat(bufs...)
	if len(data) == 0 {
		return 0, nil
	}
	c := f.process.client
	c.write(f.node, &change{
		Change: Change{Client: c.name, Kind: vfs.ChangeWrite, Name: f.name, Offset: off, Size: int64(len(data))},
		client: c, data: data,
	})
	return int64(len(data)), nil
}

func (f *file) Sync() error {
	defer f.lock()()
	if err := f.usable(); err != nil {
		return f.fail("sync", err)
	}
	f.process.client.sync(f.node)
	return nil
}

func (f *file) Size() (int64, error) {
	defer f.lock()()
	if err := f.usable(); err != nil {
		return 0, f.fail("stat", err)
	}
	return int64(len(f.content())), nil
}

// Close sends what is unsent, which another client that opens the file afterwards then sees, and removes a hidden file.
func (f *file) Close() error {
	defer f.lock()()
	if f.closed {
		return f.fail("close", fs.ErrClosed)
	}
	f.closed = true
	c := f.process.client
	cached := c.file(f.node)
	cached.handles[f.process]--
	if cached.handles[f.process] == 0 {
		delete(cached.handles, f.process)
	}
	if f.node.gone || f.node.removed {
		return nil
	}
	if f.writable {
		c.flush(f.node)
	}
	if f.node.sillyOwner == c && len(cached.handles) == 0 {
		c.reveal(f.node, f.process)
	}
	return nil
}
