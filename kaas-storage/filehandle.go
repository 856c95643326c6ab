package storage

import (
	"errors"
	"sync/atomic"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// fileMode says how a fileHandle opens its file.
type fileMode = uint32

const (
	fileInherited fileMode = iota // another epoch's: only read
	fileMissing                   // ours, to be made at first use
	fileOurs                      // ours and made
)

// fileHandle is one file of a partition, open while it is needed.
type fileHandle struct {
	sharedHandle[vfs.File]

	dir  vfs.Dir
	name segmentName
	mode atomic.Uint32 // a fileMode; changed by whoever makes the file
}

// acquire returns the open file; release must follow.
func (h *fileHandle) acquire() (vfs.File, error) { return h.use(h) }

// open makes or opens the file. A name of one's own epoch that exists before it was made here
// was not made by this leadership, so it is an error, never adopted.
func (h *fileHandle) open() (vfs.File, error) {
	name := h.name.String()
	switch h.mode.Load() {
	case fileInherited:
		return h.dir.Open(name)
	case fileOurs:
		file, err := h.dir.OpenWrite(name)
		if errors.Is(err, syscall.EROFS) {
			return h.dir.Open(name) // reads go on; a write fails and ends the epoch
		}
		return file, err
	default:
		file, err := h.dir.Create(name)
		if err == nil {
			h.mode.Store(fileOurs)
		}
		return file, err
	}
}

// missing reports whether the file is still to be made; its name is then not durable before the next sync of the directory.
func (h *fileHandle) missing() bool { return h.mode.Load() == fileMissing }
