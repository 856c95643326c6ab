package vfs

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// longestName is Linux's NAME_MAX.
const longestName = 255

// memDir is a directory's inode; Mem.tree guards it.
type memDir struct {
	entries  map[string]memNode
	removed  bool
	modified time.Time
	shadow   *shadowDir
}

func newMemDir(now time.Time) *memDir {
	return &memDir{entries: make(map[string]memNode), modified: now}
}

func (d *memDir) entry(name string) Entry {
	return Entry{Name: name, IsDir: true, ModTime: d.modified}
}

func (d *memDir) unlink(space *budget) {
	d.removed = true
	space.give(nodeCost)
}

// memDirHandle is an opened memDir.
type memDirHandle struct {
	fs     *Mem
	node   *memDir
	path   string
	closed atomic.Bool
}

func (h *memDirHandle) Path() string { return h.path }

func (h *memDirHandle) Close() error {
	if h.closed.Swap(true) {
		return pathError("close", h.path, "", fs.ErrClosed)
	}
	return nil
}

// begin checks handle and name before an operation.
func (h *memDirHandle) begin(operation, name string) error {
	if err := checkName(operation, h.path, name); err != nil {
		return err
	}
	if h.closed.Load() {
		return pathError(operation, h.path, name, fs.ErrClosed)
	}
	if len(name) > longestName {
		return pathError(operation, h.path, name, syscall.ENAMETOOLONG)
	}
	return nil
}

// lookup finds an entry; the caller holds the tree's lock.
func (h *memDirHandle) lookup(operation, name string) (memNode, error) {
	if err := h.begin(operation, name); err != nil {
		return nil, err
	}
	child, ok := h.node.entries[name]
	if !ok {
		return nil, pathError(operation, h.path, name, syscall.ENOENT)
	}
	return child, nil
}

func (h *memDirHandle) lookupDir(operation, name string) (*memDir, error) {
	child, err := h.lookup(operation, name)
	if err != nil {
		return nil, err
	}
	dir, ok := child.(*memDir)
	if !ok {
		return nil, pathError(operation, h.path, name, syscall.ENOTDIR)
	}
	return dir, nil
}

func (h *memDirHandle) lookupFile(operation, name string) (*memFile, error) {
	child, err := h.lookup(operation, name)
	if err != nil {
		return nil, err
	}
	file, ok := child.(*memFile)
	if !ok {
		return nil, pathError(operation, h.path, name, syscall.EISDIR)
	}
	return file, nil
}

func (h *memDirHandle) OpenDir(name string) (Dir, error) {
	h.fs.tree.RLock()
	defer h.fs.tree.RUnlock()
	node, err := h.lookupDir("open", name)
	if err != nil {
		return nil, err
	}
	return &memDirHandle{fs: h.fs, node: node, path: path.Join(h.path, name)}, nil
}

func (h *memDirHandle) Open(name string) (File, error)      { return h.openFile(name, false) }
func (h *memDirHandle) OpenWrite(name string) (File, error) { return h.openFile(name, true) }

func (h *memDirHandle) openFile(name string, writable bool) (File, error) {
	h.fs.tree.RLock()
	defer h.fs.tree.RUnlock()
	node, err := h.lookupFile("open", name)
	if err != nil {
		return nil, err
	}
	return node.open(h, name, writable), nil
}

func (h *memDirHandle) Hold(name string) (Claim, error) {
	h.fs.tree.RLock()
	defer h.fs.tree.RUnlock()
	node, err := h.lookupDir("hold", name)
	if err != nil {
		return nil, err
	}
	return &memClaim{fs: h.fs, node: node, parent: h.node, path: path.Join(h.path, name)}, nil
}

func (h *memDirHandle) Stat(name string) (Entry, error) {
	h.fs.tree.RLock()
	defer h.fs.tree.RUnlock()
	node, err := h.lookup("stat", name)
	if err != nil {
		return Entry{}, err
	}
	return node.entry(name), nil
}

func (h *memDirHandle) List() ([]Entry, error) {
	h.fs.tree.RLock()
	defer h.fs.tree.RUnlock()
	if h.closed.Load() {
		return nil, pathError("list", h.path, "", fs.ErrClosed)
	}
	if h.node.removed {
		return nil, pathError("list", h.path, "", syscall.ENOENT)
	}
	entries := make([]Entry, 0, len(h.node.entries))
	for _, name := range slices.Sorted(maps.Keys(h.node.entries)) {
		_, isDir := h.node.entries[name].(*memDir)
		entries = append(entries, Entry{Name: name, IsDir: isDir})
	}
	return entries, nil
}

func (h *memDirHandle) Sync() error {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	if h.closed.Load() {
		return pathError("sync", h.path, "", fs.ErrClosed)
	}
	if h.fs.journal != nil {
		h.fs.journal.syncedDir(h.node)
	}
	return nil
}
