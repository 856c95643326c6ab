package vfs

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// memFile is a file's inode.
type memFile struct {
	space *budget

	mu       sync.RWMutex
	content  chunks
	linked   bool
	handles  int
	modified time.Time
	shadow   *shadowFile
}

func (f *memFile) entry(name string) Entry {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return Entry{Name: name, Size: f.content.size, ModTime: f.modified}
}

func (f *memFile) unlink(space *budget) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.linked = false
	space.give(nodeCost)
	f.releaseLocked()
}

// open makes a handle; the caller holds the tree's lock, so that a removal
// cannot free the bytes before the handle counts.
func (f *memFile) open(dir *memDirHandle, name string, writable bool) *memFileHandle {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handles++
	return &memFileHandle{node: f, journal: dir.fs.journal, directory: dir.path, name: name, writable: writable}
}

func (f *memFile) releaseLocked() {
	if !f.linked && f.handles == 0 {
		f.content.release(f.space)
	}
}

// memFileHandle is an opened memFile.
type memFileHandle struct {
	node      *memFile
	journal   journal
	directory string
	name      string
	writable  bool
	closed    bool // guarded by node.mu
}

func (h *memFileHandle) Name() string     { return h.name }
func (h *memFileHandle) OSFile() *os.File { return nil }

func (h *memFileHandle) fail(operation string, err error) error {
	return pathError(operation, h.directory, h.name, err)
}

func (h *memFileHandle) ReadAt(p []byte, off int64) (int, error) {
	h.node.mu.RLock()
	defer h.node.mu.RUnlock()
	if h.closed {
		return 0, h.fail("read", fs.ErrClosed)
	}
	if off < 0 {
		return 0, h.fail("read", syscall.EINVAL)
	}
	n := h.node.content.readAt(p, off)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memFileHandle) WriteAt(p []byte, off int64) (int, error) {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	n, err := h.writeLocked(p, off)
	if err != nil {
		return n, h.fail("write", err)
	}
	return n, nil
}

func (h *memFileHandle) WriteVec(bufs [][]byte, off int64) (int64, error) {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	var written int64
	for _, buf := range bufs {
		n, err := h.writeLocked(buf, off+written)
		written += int64(n)
		if err != nil {
			return written, h.fail("write", err)
		}
	}
	return written, nil
}

func (h *memFileHandle) writeLocked(p []byte, off int64) (int, error) {
	if h.closed {
		return 0, fs.ErrClosed
	}
	if !h.writable {
		return 0, syscall.EBADF
	}
	n, err := h.node.content.writeAt(h.node.space, p, off)
	h.node.modified = time.Now()
	if h.journal != nil && n > 0 {
		h.journal.wrote(h.node, p[:n], off)
	}
	return n, err
}

// Extend implements Extender for a Crash. Memory itself gains nothing by it.
func (h *memFileHandle) Extend(off, size int64) error {
	if h.journal == nil {
		return h.fail("extend", ErrNoPreallocation)
	}
	_, err := h.WriteAt(make([]byte, size), off)
	return err
}

// Truncate implements Extender.
func (h *memFileHandle) Truncate(size int64) error {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	switch {
	case h.closed:
		return h.fail("truncate", fs.ErrClosed)
	case !h.writable || size < 0 || size > h.node.content.size:
		return h.fail("truncate", syscall.EINVAL)
	}
	h.node.content.truncate(h.node.space, size)
	h.node.modified = time.Now()
	if h.journal != nil {
		h.journal.truncated(h.node, size)
	}
	return nil
}

func (h *memFileHandle) Sync() error {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	if h.closed {
		return h.fail("sync", fs.ErrClosed)
	}
	if h.journal != nil {
		h.journal.syncedFile(h.node)
	}
	return nil
}

func (h *memFileHandle) Size() (int64, error) {
	h.node.mu.RLock()
	defer h.node.mu.RUnlock()
	if h.closed {
		return 0, h.fail("stat", fs.ErrClosed)
	}
	return h.node.content.size, nil
}

func (h *memFileHandle) Close() error {
	h.node.mu.Lock()
	defer h.node.mu.Unlock()
	if h.closed {
		return h.fail("close", fs.ErrClosed)
	}
	h.closed = true
	h.node.handles--
	h.node.releaseLocked()
	return nil
}
