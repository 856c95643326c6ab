package storage

import (
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// fileMode says how a fileHandle opens its file.
type fileMode uint8

const (
	fileInherited fileMode = iota // another epoch's: only read
	fileMissing                   // ours, to be made at first use
	fileOurs                      // ours and made
)

// fileHandle opens a file when it is first needed, shares the handle, and closes it when the file has been idle or is to go.
// It exists because idle partitions keep no files open, and because a file must be closed before it is unlinked:
// NFS only renames what is still open.
type fileHandle struct {
	dir  vfs.Dir
	name segmentName

	opened atomic.Bool // file is not nil, for a look without the lock

	mu     sync.Mutex // held while the file is opened or closed
	mode   fileMode
	file   vfs.File
	users  int
	used   bool   // since the last closeIdle
	doomed func() // runs once nobody uses the file any more
}

// acquire returns the open file; release must follow.
func (h *fileHandle) acquire() (vfs.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.doomed != nil {
		return nil, fs.ErrNotExist
	}
	if h.file == nil {
		file, err := h.openLocked()
		if err != nil {
			return nil, err
		}
		h.file = file
		h.opened.Store(true)
	}
	h.users++
	h.used = true
	return h.file, nil
}

// openLocked makes or opens the file. A name of one's own epoch that exists before it was made here
// was not made by this leadership, so it is an error, never adopted.
func (h *fileHandle) openLocked() (vfs.File, error) {
	name := h.name.String()
	switch h.mode {
	case fileInherited:
		return h.dir.Open(name)
	case fileOurs:
		return h.dir.OpenWrite(name)
	}
	file, err := h.dir.Create(name)
	if err == nil {
		h.mode = fileOurs
	}
	return file, err
}

// missing reports whether the file is still to be made; its name is then not durable before the next sync of the directory.
func (h *fileHandle) missing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mode == fileMissing
}

func (h *fileHandle) release() {
	h.mu.Lock()
	h.users--
	then := h.finishLocked()
	h.mu.Unlock()
	if then != nil {
		then()
	}
}

// doom closes the file as soon as nobody uses it and then runs then, once, on whichever goroutine was last.
func (h *fileHandle) doom(then func()) {
	h.mu.Lock()
	if h.doomed != nil {
		h.mu.Unlock()
		return
	}
	h.doomed = then
	run := h.finishLocked()
	h.mu.Unlock()
	if run != nil {
		run()
	}
}

func (h *fileHandle) finishLocked() func() {
	if h.doomed == nil || h.users > 0 {
		return nil
	}
	h.closeLocked()
	return h.doomed
}

// closeIdle closes the file if nobody has used it since the last call.
func (h *fileHandle) closeIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users == 0 && !h.used {
		h.closeLocked()
	}
	h.used = false
}

// closeLocked drops the handle. A close error says nothing new: what had to be durable was synced, with its own check.
func (h *fileHandle) closeLocked() {
	if h.file != nil {
		_ = h.file.Close()
		h.file = nil
		h.opened.Store(false)
	}
}
