package vfs

import "path"

// faultDir is an opened directory of a Fault. Its path is relative to the root
// whatever the wrapped file system's messages say.
type faultDir struct {
	fault *Fault
	inner Dir
	path  string
}

func (d *faultDir) op(kind OpKind, name string) Op {
	return Op{Kind: kind, Path: d.path, Name: name}
}

func (d *faultDir) named(kind OpKind, name string, call func(string) error) error {
	return d.fault.run(d.op(kind, name), func() error { return call(name) })
}

func (d *faultDir) Path() string { return d.inner.Path() }

func (d *faultDir) OpenDir(name string) (Dir, error) {
	dir, err := opening(d.fault, d.op(OpOpenDir, name), func() (Dir, error) { return d.inner.OpenDir(name) })
	if err != nil {
		return nil, err
	}
	return &faultDir{fault: d.fault, inner: dir, path: path.Join(d.path, name)}, nil
}

func (d *faultDir) Mkdir(name string) error  { return d.named(OpMkdir, name, d.inner.Mkdir) }
func (d *faultDir) Rmdir(name string) error  { return d.named(OpRmdir, name, d.inner.Rmdir) }
func (d *faultDir) Remove(name string) error { return d.named(OpRemove, name, d.inner.Remove) }

func (d *faultDir) Rename(oldName, newName string) error {
	op := d.op(OpRename, oldName)
	op.NewName = newName
	return d.fault.run(op, func() error { return d.inner.Rename(oldName, newName) })
}

func (d *faultDir) Create(name string) (File, error) {
	return d.openFile(OpCreate, name, d.inner.Create)
}

func (d *faultDir) Open(name string) (File, error) {
	return d.openFile(OpOpen, name, d.inner.Open)
}

func (d *faultDir) OpenWrite(name string) (File, error) {
	return d.openFile(OpOpenWrite, name, d.inner.OpenWrite)
}

func (d *faultDir) openFile(kind OpKind, name string, open func(string) (File, error)) (File, error) {
	file, err := opening(d.fault, d.op(kind, name), func() (File, error) { return open(name) })
	if err != nil {
		return nil, err
	}
	return &faultFile{fault: d.fault, inner: file, path: d.path}, nil
}

func (d *faultDir) List() (entries []Entry, err error) {
	err = d.fault.run(d.op(OpList, ""), func() (err error) {
		entries, err = d.inner.List()
		return err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func (d *faultDir) Stat(name string) (entry Entry, err error) {
	err = d.fault.run(d.op(OpStat, name), func() (err error) {
		entry, err = d.inner.Stat(name)
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	return entry, nil
}

func (d *faultDir) Sync() error { return d.fault.run(d.op(OpSyncDir, ""), d.inner.Sync) }

func (d *faultDir) Hold(name string) (Claim, error) {
	claim, err := opening(d.fault, d.op(OpHold, name), func() (Claim, error) { return d.inner.Hold(name) })
	if err != nil {
		return nil, err
	}
	return &faultClaim{fault: d.fault, inner: claim, path: d.path, name: name}, nil
}

func (d *faultDir) Close() error { return d.fault.closing(d.op(OpCloseDir, ""), d.inner) }

// faultClaim is a held directory of a Fault.
type faultClaim struct {
	fault *Fault
	inner Claim
	path  string
	name  string
}

func (c *faultClaim) Check() error {
	return c.fault.run(Op{Kind: OpCheck, Path: c.path, Name: c.name}, c.inner.Check)
}

func (c *faultClaim) Parent() (Dir, error) {
	dir, err := opening(c.fault, Op{Kind: OpParent, Path: c.path, Name: c.name}, c.inner.Parent)
	if err != nil {
		return nil, err
	}
	return &faultDir{fault: c.fault, inner: dir, path: c.path}, nil
}

func (c *faultClaim) Close() error {
	return c.fault.closing(Op{Kind: OpCloseClaim, Path: c.path, Name: c.name}, c.inner)
}
