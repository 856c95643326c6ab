package interleaving

import (
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// liar stands between an engine and its file system. What it answers falsely, or does in another order, takes one rule out of the engine
// without touching its code. A nil function leaves the call as it is. It belongs to one process.
type liar struct {
	list    func(d vfs.Dir) ([]vfs.Entry, error)
	mkdir   func(d vfs.Dir, name string) error
	rmdir   func(d vfs.Dir, name string) error
	rename  func(d vfs.Dir, oldName, newName string) error
	syncDir func(d vfs.Dir) error
	check   func(c vfs.Claim) error
	parent  func() (vfs.Dir, error) // directories then stay open when they are closed
	write   func(d vfs.Dir, f vfs.File, p []byte, off int64) (int, error)
	sync    func(d vfs.Dir, f vfs.File) error
}

type lyingFS struct {
	vfs.FS
	liar *liar
}

func (f lyingFS) OpenDir(path string) (vfs.Dir, error) {
	d, err := f.FS.OpenDir(path)
	if err != nil {
		return nil, err
	}
	return lyingDir{d, f.liar}, nil
}

type lyingDir struct {
	vfs.Dir
	liar *liar
}

// or calls lie, or truth where there is none.
func or[A any](lie func(vfs.Dir, A) error, truth func(A) error, d vfs.Dir, a A) error {
	if lie == nil {
		return truth(a)
	}
	return lie(d, a)
}

func (d lyingDir) Mkdir(name string) error { return or(d.liar.mkdir, d.Dir.Mkdir, d.Dir, name) }
func (d lyingDir) Rmdir(name string) error { return or(d.liar.rmdir, d.Dir.Rmdir, d.Dir, name) }

func (d lyingDir) Close() error {
	if d.liar.parent != nil {
		return nil
	}
	return d.Dir.Close()
}

func (d lyingDir) OpenDir(name string) (vfs.Dir, error) {
	child, err := d.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return lyingDir{child, d.liar}, nil
}

func (d lyingDir) List() ([]vfs.Entry, error) {
	if d.liar.list == nil {
		return d.Dir.List()
	}
	return d.liar.list(d.Dir)
}

func (d lyingDir) Rename(oldName, newName string) error {
	if d.liar.rename == nil {
		return d.Dir.Rename(oldName, newName)
	}
	return d.liar.rename(d.Dir, oldName, newName)
}

func (d lyingDir) Sync() error {
	if d.liar.syncDir == nil {
		return d.Dir.Sync()
	}
	return d.liar.syncDir(d.Dir)
}

func (d lyingDir) Create(name string) (vfs.File, error)    { return d.file(d.Dir.Create(name)) }
func (d lyingDir) OpenWrite(name string) (vfs.File, error) { return d.file(d.Dir.OpenWrite(name)) }

func (d lyingDir) file(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return lyingFile{f, d.Dir, d.liar}, nil
}

func (d lyingDir) Hold(name string) (vfs.Claim, error) {
	c, err := d.Dir.Hold(name)
	if err != nil {
		return nil, err
	}
	return lyingClaim{c, d.liar}, nil
}

type lyingClaim struct {
	vfs.Claim
	liar *liar
}

func (c lyingClaim) Check() error {
	if c.liar.check == nil {
		return c.Claim.Check()
	}
	return c.liar.check(c.Claim)
}

func (c lyingClaim) Parent() (vfs.Dir, error) {
	open := c.Claim.Parent
	if c.liar.parent != nil {
		open = c.liar.parent
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	return lyingDir{d, c.liar}, nil
}

type lyingFile struct {
	vfs.File
	dir  vfs.Dir
	liar *liar
}

func (f lyingFile) WriteAt(p []byte, off int64) (int, error) {
	if f.liar.write == nil {
		return f.File.WriteAt(p, off)
	}
	return f.liar.write(f.dir, f.File, p, off)
}

func (f lyingFile) Sync() error {
	if f.liar.sync == nil {
		return f.File.Sync()
	}
	return f.liar.sync(f.dir, f.File)
}
