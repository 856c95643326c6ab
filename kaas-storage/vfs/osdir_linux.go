package vfs

import (
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	dirMode  = 0o750
	fileMode = 0o640
)

// osDir is an opened directory of the real file system.
type osDir struct {
	handle *descriptor
}

func openDirAt(parent *descriptor, name, path string) (*descriptor, error) {
	handle, err := parent.openAt("open", name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	handle.path = path
	return handle, nil
}

func (d *osDir) Path() string { return d.handle.path }

func (d *osDir) Close() error { return d.handle.close() }

// named runs a call on a checked name.
func (d *osDir) named(operation, name string, call func(fd int) error) error {
	if err := checkName(operation, d.handle.path, name); err != nil {
		return err
	}
	return d.handle.use(operation, name, call)
}

func (d *osDir) OpenDir(name string) (Dir, error) {
	if err := checkName("open", d.handle.path, name); err != nil {
		return nil, err
	}
	handle, err := openDirAt(d.handle, name, path.Join(d.handle.path, name))
	if err != nil {
		return nil, err
	}
	return &osDir{handle}, nil
}

func (d *osDir) Mkdir(name string) error {
	return d.named("mkdir", name, func(fd int) error { return unix.Mkdirat(fd, name, dirMode) })
}

func (d *osDir) Rmdir(name string) error {
	return d.named("rmdir", name, func(fd int) error { return unix.Unlinkat(fd, name, unix.AT_REMOVEDIR) })
}

func (d *osDir) Remove(name string) error {
	return d.named("remove", name, func(fd int) error { return unix.Unlinkat(fd, name, 0) })
}

func (d *osDir) Rename(oldName, newName string) error {
	if err := checkName("rename", d.handle.path, newName); err != nil {
		return err
	}
	return d.named("rename", oldName, func(fd int) error { return unix.Renameat(fd, oldName, fd, newName) })
}

func (d *osDir) Create(name string) (File, error) {
	return d.openFile("create", name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
}

func (d *osDir) Open(name string) (File, error) {
	return d.openFile("open", name, unix.O_RDONLY)
}

func (d *osDir) OpenWrite(name string) (File, error) {
	return d.openFile("open", name, unix.O_RDWR)
}

func (d *osDir) openFile(operation, name string, flags int) (File, error) {
	if err := checkName(operation, d.handle.path, name); err != nil {
		return nil, err
	}
	handle, err := d.handle.openAt(operation, name, flags, fileMode)
	if err != nil {
		return nil, err
	}
	// Opening a directory for reading succeeds; as a file it would fail late.
	stat, err := handle.stat(operation, "", unix.AT_EMPTY_PATH)
	if err == nil && stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = pathError(operation, d.handle.path, name, syscall.EISDIR)
	}
	if err != nil {
		handle.close()
		return nil, err
	}
	return &osFile{handle: handle, name: name}, nil
}

func (d *osDir) Stat(name string) (Entry, error) {
	if err := checkName("stat", d.handle.path, name); err != nil {
		return Entry{}, err
	}
	stat, err := d.handle.stat("stat", name, 0)
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{
		Name:    name,
		IsDir:   stat.Mode&unix.S_IFMT == unix.S_IFDIR,
		ModTime: time.Unix(stat.Mtime.Sec, int64(stat.Mtime.Nsec)),
	}
	if !entry.IsDir {
		entry.Size = int64(stat.Size)
	}
	return entry, nil
}

func (d *osDir) Sync() error { return d.handle.use("sync", "", unix.Fsync) }

func (d *osDir) Hold(name string) (Claim, error) {
	if err := checkName("hold", d.handle.path, name); err != nil {
		return nil, err
	}
	handle, err := d.handle.openAt("hold", name, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &osClaim{handle: handle}, nil
}
