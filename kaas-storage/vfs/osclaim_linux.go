package vfs

import (
	"errors"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// osClaim is a held directory of the real file system. An O_PATH handle keeps no
// state on a file server, so nothing delays its removal.
type osClaim struct {
	handle *descriptor
	spare  atomic.Pointer[forcedStat] // for the next check: every commit makes one
}

// forcedStat asks for attributes past every cache.
type forcedStat struct {
	stat unix.Statx_t
	call func(fd int) error
}

func newForcedStat() *forcedStat {
	f := new(forcedStat)
	f.call = func(fd int) error {
		return unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &f.stat)
	}
	return f
}

// Check makes one round trip to the server.
func (c *osClaim) Check() error {
	forced := c.spare.Swap(nil)
	if forced == nil {
		forced = newForcedStat()
	}
	err := c.handle.use("check", "", forced.call)
	links := forced.stat.Nlink
	c.spare.Store(forced)
	switch {
	case errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENOENT), err == nil && links == 0:
		return pathError("check", c.handle.path, "", ErrUnlinked)
	default:
		return err
	}
}

// Parent implements Claim. The kernel knows the parent of an opened directory and keeps it when either is renamed. It also does when the claim has
// been removed, on a local file system, therefore the check; what it answers beats the error of a file server that has forgotten the handle.
func (c *osClaim) Parent() (Dir, error) {
	handle, err := openDirAt(c.handle, "..", filepath.Dir(c.handle.path))
	if checked := c.Check(); checked != nil {
		if err == nil {
			handle.close()
		}
		return nil, checked
	}
	if err != nil {
		return nil, err
	}
	return &osDir{handle}, nil
}

func (c *osClaim) Close() error { return c.handle.close() }
