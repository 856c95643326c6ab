package vfs

import (
	"syscall"
	"time"
)

// The changes of a memory directory. Each is atomic under the tree's lock.

func (h *memDirHandle) Mkdir(name string) error {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	return h.link("mkdir", name, newMemDir(time.Now()))
}

func (h *memDirHandle) Create(name string) (File, error) {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	node := &memFile{space: h.fs.space, linked: true, modified: time.Now()}
	if err := h.link("create", name, node); err != nil {
		return nil, err
	}
	return node.open(h, name, true), nil
}

func (h *memDirHandle) link(operation, name string, child memNode) error {
	if err := h.begin(operation, name); err != nil {
		return err
	}
	if h.node.removed {
		return pathError(operation, h.path, name, syscall.ENOENT)
	}
	if _, taken := h.node.entries[name]; taken {
		return pathError(operation, h.path, name, syscall.EEXIST)
	}
	if !h.fs.space.take(nodeCost) {
		return pathError(operation, h.path, name, syscall.ENOSPC)
	}
	h.node.entries[name] = child
	h.node.modified = time.Now()
	if h.fs.journal != nil {
		h.fs.journal.linked(h.node, h.path, name, child)
	}
	return nil
}

func (h *memDirHandle) Rmdir(name string) error {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	node, err := h.lookupDir("rmdir", name)
	if err != nil {
		return err
	}
	if len(node.entries) > 0 {
		return pathError("rmdir", h.path, name, ErrNotEmpty)
	}
	h.unlink(name, node)
	return nil
}

func (h *memDirHandle) Remove(name string) error {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	node, err := h.lookupFile("remove", name)
	if err != nil {
		return err
	}
	h.unlink(name, node)
	return nil
}

func (h *memDirHandle) unlink(name string, child memNode) {
	delete(h.node.entries, name)
	h.node.modified = time.Now()
	child.unlink(h.fs.space)
	if h.fs.journal != nil {
		h.fs.journal.unlinked(h.node, h.path, name, child)
	}
}

func (h *memDirHandle) Rename(oldName, newName string) error {
	h.fs.tree.Lock()
	defer h.fs.tree.Unlock()
	node, err := h.lookup("rename", oldName)
	if err != nil {
		return err
	}
	if err := h.begin("rename", newName); err != nil {
		return err
	}
	replaced := h.node.entries[newName]
	if replaced == node {
		return nil
	}
	if err := mayReplace(node, replaced); err != nil {
		return pathError("rename", h.path, newName, err)
	}
	if replaced != nil {
		replaced.unlink(h.fs.space)
	}
	delete(h.node.entries, oldName)
	h.node.entries[newName] = node
	h.node.modified = time.Now()
	if h.fs.journal != nil {
		h.fs.journal.renamed(h.node, h.path, oldName, newName, node)
	}
	return nil
}

// mayReplace is rename's rule for the kinds of both names.
func mayReplace(node, replaced memNode) error {
	if replaced == nil {
		return nil
	}
	_, isDir := node.(*memDir)
	target, ontoDir := replaced.(*memDir)
	switch {
	case isDir && !ontoDir:
		return syscall.ENOTDIR
	case !isDir && ontoDir:
		return syscall.EISDIR
	case ontoDir && len(target.entries) > 0:
		return ErrNotEmpty
	}
	return nil
}
