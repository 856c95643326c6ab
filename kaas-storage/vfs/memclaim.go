package vfs

import (
	"io/fs"
	"path"
	"sync/atomic"
)

// memClaim is a held memDir.
type memClaim struct {
	fs     *Mem
	node   *memDir
	parent *memDir // for good: a rename leaves a node in its directory
	path   string
	closed atomic.Bool
}

func (c *memClaim) Check() error {
	if c.closed.Load() {
		return pathError("check", c.path, "", fs.ErrClosed)
	}
	c.fs.tree.RLock()
	defer c.fs.tree.RUnlock()
	if c.node.removed {
		return pathError("check", c.path, "", ErrUnlinked)
	}
	return nil
}

func (c *memClaim) Parent() (Dir, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &memDirHandle{fs: c.fs, node: c.parent, path: path.Dir(c.path)}, nil
}

func (c *memClaim) Close() error {
	if c.closed.Swap(true) {
		return pathError("close", c.path, "", fs.ErrClosed)
	}
	return nil
}
