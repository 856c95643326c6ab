package vfs

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// osFS is the real file system below an opened root.
type osFS struct {
	root *descriptor
}

// OS opens the real file system below an existing directory, to which links
// are followed; below it none is. On systems other than Linux it
// answers ErrUnsupported.
//
// Sync of a file is fdatasync, of a directory fsync. After a removal of an
// opened directory a network file system may answer syscall.ESTALE where a
// local one answers fs.ErrNotExist; only Claim.Check treats both alike.
func OS(root string) (FS, error) {
	root = filepath.Clean(root)
	fd, err := retry(func() (int, error) {
		return unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, pathError("open", root, "", err)
	}
	handle, err := newDescriptor(fd, root)
	if err != nil {
		return nil, err
	}
	return &osFS{root: handle}, nil
}

// OpenDir implements FS. Each level is opened relative to the one above, so
// that a link anywhere in the path is refused.
func (f *osFS) OpenDir(path string) (Dir, error) {
	elements, err := splitPath("open", path)
	if err != nil {
		return nil, err
	}
	handle, err := openDirAt(f.root, ".", f.root.path)
	if err != nil {
		return nil, err
	}
	for _, element := range elements {
		child, err := openDirAt(handle, element, filepath.Join(handle.path, element))
		handle.close()
		if err != nil {
			return nil, err
		}
		handle = child
	}
	return &osDir{handle}, nil
}

// MkdirAll implements FS.
func (f *osFS) MkdirAll(path string) error { return mkdirAll(f, path) }

// Usage implements FS.
func (f *osFS) Usage() (Usage, error) {
	var stat unix.Statfs_t
	err := f.root.use("statfs", "", func(fd int) error { return unix.Fstatfs(fd, &stat) })
	if err != nil {
		return Usage{}, err
	}
	block := int64(stat.Frsize) //nolint:unconvert // narrower on some architectures
	if block == 0 {
		block = int64(stat.Bsize) //nolint:unconvert // as above
	}
	return Usage{Total: int64(stat.Blocks) * block, Free: int64(stat.Bavail) * block}, nil
}

// Close implements FS.
func (f *osFS) Close() error { return f.root.close() }
