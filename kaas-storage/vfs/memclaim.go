package vfs

import (
	"io/fs"
	"sync/atomic"
)

// memClaim is a held memDir.
type memClaim struct {
	fs     *Mem
	node   *memDir
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

func (c *memClaim) Close() error {
	if c.closed.Swap(true) {
		return pathError("close", c.path, "", fs.ErrClosed)
	}
	return nil
}
