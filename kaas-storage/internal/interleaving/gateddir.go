package interleaving

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

type gatedDir struct {
	owner *Owner
	inner vfs.Dir
}

func (d *gatedDir) op(kind vfs.OpKind, name string) vfs.Op {
	return vfs.Op{Kind: kind, Path: d.inner.Path(), Name: name}
}

func (d *gatedDir) named(kind vfs.OpKind, name string, call func(string) error) error {
	return d.owner.run(d.op(kind, name), func() (string, error) { return "", call(name) })
}

func (d *gatedDir) Path() string             { return d.inner.Path() }
func (d *gatedDir) Close() error             { return d.inner.Close() }
func (d *gatedDir) Mkdir(name string) error  { return d.named(vfs.OpMkdir, name, d.inner.Mkdir) }
func (d *gatedDir) Rmdir(name string) error  { return d.named(vfs.OpRmdir, name, d.inner.Rmdir) }
func (d *gatedDir) Remove(name string) error { return d.named(vfs.OpRemove, name, d.inner.Remove) }
func (d *gatedDir) Sync() error {
	return d.owner.run(d.op(vfs.OpSyncDir, ""), func() (string, error) { return "", d.inner.Sync() })
}

func (d *gatedDir) Rename(oldName, newName string) error {
	op := d.op(vfs.OpRename, oldName)
	op.NewName = newName
	return d.owner.run(op, func() (string, error) { return "", d.inner.Rename(oldName, newName) })
}

func (d *gatedDir) OpenDir(name string) (opened vfs.Dir, err error) {
	err = d.owner.run(d.op(vfs.OpOpenDir, name), func() (string, error) {
		inner, err := d.inner.OpenDir(name)
		opened = &gatedDir{d.owner, inner}
		return "", err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (d *gatedDir) Create(name string) (vfs.File, error) {
	return d.file(vfs.OpCreate, name, d.inner.Create)
}

func (d *gatedDir) Open(name string) (vfs.File, error) { return d.file(vfs.OpOpen, name, d.inner.Open) }

func (d *gatedDir) OpenWrite(name string) (vfs.File, error) {
	return d.file(vfs.OpOpenWrite, name, d.inner.OpenWrite)
}

func (d *gatedDir) file(kind vfs.OpKind, name string, open func(string) (vfs.File, error)) (opened vfs.File, err error) {
	err = d.owner.run(d.op(kind, name), func() (string, error) {
		inner, err := open(name)
		opened = &gatedFile{owner: d.owner, File: inner, path: d.inner.Path()}
		return "", err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

func (d *gatedDir) List() (entries []vfs.Entry, err error) {
	err = d.owner.run(d.op(vfs.OpList, ""), func() (string, error) {
		entries, err = d.inner.List()
		var names strings.Builder
		for _, entry := range entries {
			names.WriteString(" " + stable(entry.Name))
		}
		return names.String(), err
	})
	return entries, err
}

func (d *gatedDir) Stat(name string) (entry vfs.Entry, err error) {
	err = d.owner.run(d.op(vfs.OpStat, name), func() (string, error) {
		entry, err = d.inner.Stat(name)
		return fmt.Sprintf("%d bytes", entry.Size), err
	})
	return entry, err
}

func (d *gatedDir) Hold(name string) (held vfs.Claim, err error) {
	err = d.owner.run(d.op(vfs.OpHold, name), func() (string, error) {
		inner, err := d.inner.Hold(name)
		held = &gatedClaim{owner: d.owner, inner: inner, path: d.inner.Path(), name: name}
		return "", err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

type gatedClaim struct {
	owner      *Owner
	inner      vfs.Claim
	path, name string
}

func (c *gatedClaim) Close() error { return c.inner.Close() }

func (c *gatedClaim) Check() error {
	return c.owner.run(vfs.Op{Kind: vfs.OpCheck, Path: c.path, Name: c.name}, func() (string, error) { return "held", c.inner.Check() })
}

func (c *gatedClaim) Parent() (opened vfs.Dir, err error) {
	err = c.owner.run(vfs.Op{Kind: vfs.OpParent, Path: c.path, Name: c.name}, func() (string, error) {
		inner, err := c.inner.Parent()
		opened = &gatedDir{c.owner, inner}
		return "", err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// gatedFile passes on what it does not override: name and closing.
type gatedFile struct {
	vfs.File
	owner *Owner
	path  string
}

func (f *gatedFile) OSFile() *os.File { return nil }

func (f *gatedFile) op(kind vfs.OpKind, off, size int64) vfs.Op {
	return vfs.Op{Kind: kind, Path: f.path, Name: f.Name(), Offset: off, Size: size}
}

func (f *gatedFile) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.owner.run(f.op(vfs.OpReadAt, off, int64(len(p))), func() (string, error) {
		n, err = f.File.ReadAt(p, off)
		h := fnv.New64a()
		h.Write(p[:n])
		return fmt.Sprintf("%d bytes, hash %x", n, h.Sum64()), err
	})
	return n, err
}

func (f *gatedFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.owner.run(f.op(vfs.OpWriteAt, off, int64(len(p))), func() (string, error) {
		n, err = f.File.WriteAt(p, off)
		return "", err
	})
	return n, err
}

func (f *gatedFile) WriteVec(bufs [][]byte, off int64) (n int64, err error) {
	size := 0
	for _, buf := range bufs {
		size += len(buf)
	}
	err = f.owner.run(f.op(vfs.OpWriteVec, off, int64(size)), func() (string, error) {
		n, err = f.File.WriteVec(bufs, off)
		return "", err
	})
	return n, err
}

func (f *gatedFile) Sync() error {
	return f.owner.run(f.op(vfs.OpSync, 0, 0), func() (string, error) { return "", f.File.Sync() })
}

func (f *gatedFile) Size() (size int64, err error) {
	err = f.owner.run(f.op(vfs.OpSize, 0, 0), func() (string, error) {
		size, err = f.File.Size()
		return fmt.Sprintf("%d bytes", size), err
	})
	return size, err
}
