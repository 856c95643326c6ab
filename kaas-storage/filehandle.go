package storage

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

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

	mu      sync.Mutex // never held across a file call: who waits for it must not wait for a file server
	mode    fileMode
	file    vfs.File
	opening chan struct{} // closed when the user who opens the file is done; nil while nobody does
	users   int
	used    bool   // since the last closeIdle
	doomed  func() // runs once nobody uses the file any more
}

// acquire returns the open file; release must follow.
func (h *fileHandle) acquire() (vfs.File, error) {
	h.mu.Lock()
	for h.opening != nil {
		opening := h.opening
		h.mu.Unlock()
		<-opening
		h.mu.Lock()
	}
	if h.doomed != nil {
		h.mu.Unlock()
		return nil, fs.ErrNotExist
	}
	h.users++ // from here on doom waits for release
	h.used = true
	if h.file != nil {
		defer h.mu.Unlock()
		return h.file, nil
	}
	h.opening = make(chan struct{})
	mode := h.mode
	h.mu.Unlock()
	file, err := h.open(mode)
	h.openDone(file, err)
	if err != nil {
		h.release()
		return nil, err
	}
	return file, nil
}

// open makes or opens the file. A name of one's own epoch that exists before it was made here
// was not made by this leadership, so it is an error, never adopted.
func (h *fileHandle) open(mode fileMode) (vfs.File, error) {
	name := h.name.String()
	switch mode {
	case fileInherited:
		return h.dir.Open(name)
	case fileOurs:
		file, err := h.dir.OpenWrite(name)
		if errors.Is(err, syscall.EROFS) {
			return h.dir.Open(name) // reads go on; a write fails and ends the epoch
		}
		return file, err
	default:
		return h.dir.Create(name)
	}
}

func (h *fileHandle) openDone(file vfs.File, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.opening)
	h.opening = nil
	if err != nil {
		return
	}
	h.file = file
	h.opened.Store(true)
	if h.mode == fileMissing {
		h.mode = fileOurs
	}
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
	finish := h.finishLocked()
	h.mu.Unlock()
	finish()
}

// doom closes the file as soon as nobody uses it and then runs then, once, on whichever goroutine was last.
func (h *fileHandle) doom(then func()) {
	h.mu.Lock()
	if h.doomed != nil {
		h.mu.Unlock()
		return
	}
	h.doomed = then
	finish := h.finishLocked()
	h.mu.Unlock()
	finish()
}

// finishLocked returns what is to be done without the lock.
func (h *fileHandle) finishLocked() func() {
	if h.doomed == nil || h.users > 0 {
		return func() {}
	}
	file, then := h.detachLocked(), h.doomed
	return func() {
		closeFile(file)
		then()
	}
}

// closeIdle closes the file if nobody has used it since the last call.
func (h *fileHandle) closeIdle() {
	var idle vfs.File
	h.mu.Lock()
	if h.users == 0 && !h.used {
		idle = h.detachLocked()
	}
	h.used = false
	h.mu.Unlock()
	closeFile(idle)
}

func (h *fileHandle) detachLocked() vfs.File {
	file := h.file
	h.file = nil
	h.opened.Store(false)
	return file
}

// closeFile ignores a close error, which says nothing new: what had to be durable was synced, with its own check.
func closeFile(file vfs.File) {
	if file != nil {
		_ = file.Close()
	}
}
