package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// osClaim is a held directory of the real file system. An O_PATH handle keeps no
// state on a file server, so nothing delays its removal.
type osClaim struct {
	handle *descriptor
}

// Check makes one round trip to the server.
func (c *osClaim) Check() error {
	stat, err := c.handle.force("check")
	switch {
	case errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENOENT), err == nil && stat.Nlink == 0:
		return pathError("check", c.handle.path, "", ErrUnlinked)
	default:
		return err
	}
}

func (c *osClaim) Close() error { return c.handle.close() }
