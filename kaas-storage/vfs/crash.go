package vfs

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Crash is a memory file system that knows what a power cut would leave of it.
// It behaves like Mem; PowerCut shows the rest. The model:
//
//   - A file's data and size are durable after File.Sync, by whichever handle.
//   - A name made, removed or renamed is durable after Dir.Sync of its
//     directory, and only then; what is in the file or directory of that name is another matter.
//   - Of everything else any part may survive, in any order. A write can
//     survive in pieces; its growth of the file can survive without its bytes
//     (they read as zeros then). A rename or a truncation survives whole or not at all.
//
// Durable content is kept apart from the live one and does not count against the budget.
type Crash struct {
	mem *Mem

	// mu guards every shadow. It comes after the locks of Mem.
	mu       sync.Mutex
	sequence int64
}

// NewCrash makes an empty file system of the given size in bytes (see NewMem).
func NewCrash(budgetBytes int64) *Crash {
	c := &Crash{mem: NewMem(budgetBytes)}
	c.mem.root.shadow = newShadowDir()
	c.mem.journal = c
	return c
}

// OpenDir implements FS.
func (c *Crash) OpenDir(path string) (Dir, error) { return c.mem.OpenDir(path) }

// MkdirAll implements FS.
func (c *Crash) MkdirAll(path string) error { return c.mem.MkdirAll(path) }

// Usage implements FS.
func (c *Crash) Usage() (Usage, error) { return c.mem.Usage() }

// Close does nothing, as with Mem.
func (c *Crash) Close() error { return nil }

// shadowDir is what is durable of a directory, and what has changed since.
// Entries are live nodes, of which only the shadows count.
type shadowDir struct {
	entries  map[string]memNode
	pending  []*change
	modified time.Time
}

// shadowFile is what is durable of a file, and what has been written since.
type shadowFile struct {
	path, name string
	content    chunks
	pending    []*change
	liveSize   int64
	modified   time.Time
}

func newShadowDir() *shadowDir {
	return &shadowDir{entries: make(map[string]memNode), modified: time.Now()}
}

// change is one unsynced change. Those of files have data, those of directories a child.
type change struct {
	sequence            int64
	kind                ChangeKind
	path, name, newName string

	child memNode

	file *memFile
	off  int64
	data []byte
	// growsTo is the file's new size in bytes, zero if the write did not change it.
	growsTo int64
	// shrinksTo is the file's new size in bytes after a truncation.
	shrinksTo int64

	dir *memDir
}

// unlimited is the budget of durable content.
func unlimited() *budget { return &budget{limit: math.MaxInt64} }

func (c *Crash) nextLocked() int64 {
	c.sequence++
	return c.sequence
}

func (c *Crash) wrote(file *memFile, p []byte, off int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shadow := file.shadow
	written := &change{
		sequence: c.nextLocked(), kind: ChangeWrite, path: shadow.path, name: shadow.name,
		file: file, off: off, data: slices.Clone(p),
	}
	if end := off + int64(len(p)); end > shadow.liveSize {
		shadow.liveSize, written.growsTo = end, end
	}
	shadow.modified = time.Now()
	shadow.pending = append(shadow.pending, written)
}

func (c *Crash) truncated(file *memFile, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shadow := file.shadow
	shadow.liveSize, shadow.modified = size, time.Now()
	shadow.pending = append(shadow.pending, &change{
		sequence: c.nextLocked(), kind: ChangeTruncate, path: shadow.path, name: shadow.name, file: file, shrinksTo: size,
	})
}

func (c *Crash) syncedFile(file *memFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, changed := range file.shadow.pending {
		if changed.kind == ChangeTruncate {
			changed.applyTruncation(&file.shadow.content)
			continue
		}
		changed.applyData(&file.shadow.content, 0, int64(len(changed.data)))
	}
	file.shadow.pending = nil
}

// applyData writes a part of the change. It cannot fail: the same write has
// succeeded on the live file, and durable content has no budget.
func (c *change) applyData(content *chunks, from, to int64) {
	_, _ = content.writeAt(unlimited(), c.data[from:to], c.off+from)
}

// applyTruncation cuts content to which earlier growth may be missing.
func (c *change) applyTruncation(content *chunks) {
	if c.shrinksTo < content.size {
		content.truncate(unlimited(), c.shrinksTo)
	}
}

func (c *Crash) linked(dir *memDir, path, name string, child memNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := ChangeMkdir
	switch node := child.(type) {
	case *memDir:
		node.shadow = newShadowDir()
	case *memFile:
		kind = ChangeCreate
		node.shadow = &shadowFile{path: path, name: name, modified: time.Now()}
	}
	c.changedLocked(dir, &change{kind: kind, path: path, name: name, child: child})
}

func (c *Crash) unlinked(dir *memDir, path, name string, child memNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := ChangeRmdir
	if _, isFile := child.(*memFile); isFile {
		kind = ChangeRemove
	}
	c.changedLocked(dir, &change{kind: kind, path: path, name: name, child: child})
}

func (c *Crash) renamed(dir *memDir, path, oldName, newName string, child memNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if file, isFile := child.(*memFile); isFile {
		file.shadow.name = newName
	}
	c.changedLocked(dir, &change{kind: ChangeRename, path: path, name: oldName, newName: newName, child: child})
}

func (c *Crash) changedLocked(dir *memDir, changed *change) {
	changed.sequence, changed.dir = c.nextLocked(), dir
	dir.shadow.modified = time.Now()
	dir.shadow.pending = append(dir.shadow.pending, changed)
}

func (c *Crash) syncedDir(dir *memDir) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, changed := range dir.shadow.pending {
		changed.applyEntry(dir.shadow.entries)
	}
	dir.shadow.pending = nil
}

// applyEntry makes a directory change, of which earlier ones may be missing.
func (c *change) applyEntry(entries map[string]memNode) {
	switch c.kind {
	case ChangeCreate, ChangeMkdir:
		entries[c.name] = c.child
	case ChangeRemove, ChangeRmdir:
		if entries[c.name] == c.child {
			delete(entries, c.name)
		}
	case ChangeRename:
		// An earlier rename of the same file may not have survived: the
		// file must not end up with two names.
		maps.DeleteFunc(entries, func(_ string, node memNode) bool { return node == c.child })
		entries[c.newName] = c.child
	case ChangeWrite, ChangeGrow, ChangeTruncate:
		// Of a file, not of its directory.
	}
}
