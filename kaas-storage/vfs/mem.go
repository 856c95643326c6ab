package vfs

import (
	"math"
	"sync"
	"syscall"
	"time"
)

// nodeCost is what a file or directory takes from the budget besides its content.
const nodeCost = 512

// Mem is a file system in memory. Bytes are stored once and count against a
// budget in whole chunks (4 KiB for a small file, 1 MiB steps for a large
// one), each file and directory costs 512 bytes more; beyond the budget writes give
// syscall.ENOSPC. Removed files keep their bytes until their last handle is
// closed. Errors are those that Linux gives. Syncs have nothing to do.
type Mem struct {
	space *budget
	// tree guards every directory's entries. It is taken before a file's
	// lock and never held while file content is copied.
	tree    sync.RWMutex
	root    *memDir
	journal journal
}

// journal is told of every change, in the order in which it takes effect, under the
// lock that orders it. Crash implements it.
type journal interface {
	wrote(file *memFile, p []byte, off int64)
	truncated(file *memFile, size int64)
	syncedFile(file *memFile)
	linked(dir *memDir, path, name string, child memNode)
	unlinked(dir *memDir, path, name string, child memNode)
	renamed(dir *memDir, path, oldName, newName string, child memNode)
	syncedDir(dir *memDir)
}

// memNode is a *memDir or a *memFile.
type memNode interface {
	entry(name string) Entry
	unlink(space *budget)
}

// NewMem makes an empty file system of the given size in bytes. Zero or less means no limit.
func NewMem(budgetBytes int64) *Mem {
	if budgetBytes <= 0 {
		budgetBytes = math.MaxInt64
	}
	return &Mem{space: &budget{limit: budgetBytes}, root: newMemDir(time.Now())}
}

// OpenDir implements FS.
func (m *Mem) OpenDir(path string) (Dir, error) {
	elements, err := splitPath("open", path)
	if err != nil {
		return nil, err
	}
	m.tree.RLock()
	defer m.tree.RUnlock()
	node := m.root
	for _, element := range elements {
		child, ok := node.entries[element]
		if !ok {
			return nil, pathError("open", "", path, syscall.ENOENT)
		}
		if node, ok = child.(*memDir); !ok {
			return nil, pathError("open", "", path, syscall.ENOTDIR)
		}
	}
	return &memDirHandle{fs: m, node: node, path: path}, nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(path string) error { return mkdirAll(m, path) }

// Usage implements FS. The total is the budget.
func (m *Mem) Usage() (Usage, error) {
	return Usage{Total: m.space.limit, Free: max(0, m.space.limit-m.space.used.Load())}, nil
}

// Close does nothing: the content lives as long as the Mem is referred to and
// can be opened again.
func (m *Mem) Close() error { return nil }
