package vfs

// Fault is a file system whose operations can be failed, shortened, delayed and
// hung by a hook. MkdirAll shows up as the operations that it consists of.
type Fault struct {
	inner FS
	hook  Hook
}

// NewFault wraps a file system, which Close closes too. A nil hook does nothing.
func NewFault(inner FS, hook Hook) *Fault {
	if hook == nil {
		hook = func(Op) error { return nil }
	}
	return &Fault{inner: inner, hook: hook}
}

// run carries out an operation between the two calls of the hook.
func (f *Fault) run(op Op, call func() error) error {
	if err := f.before(op); err != nil {
		return err
	}
	return f.after(op, call())
}

func (f *Fault) before(op Op) error { return op.wrap(f.hook(op)) }

func (f *Fault) after(op Op, err error) error {
	op.After, op.Err = true, err
	if injected := f.hook(op); injected != nil {
		return op.wrap(injected)
	}
	return err
}

func (o Op) wrap(err error) error {
	if err == nil {
		return nil
	}
	return pathError(o.Kind.String(), o.Path, o.Name, err)
}

// closing is run for handles: they are closed whatever the hook says before.
func (f *Fault) closing(op Op, handle closer) error {
	if err := f.before(op); err != nil {
		handle.Close()
		return err
	}
	return f.after(op, handle.Close())
}

type closer interface{ Close() error }

// opening is run for operations that return a handle; it is closed if the hook
// makes the operation fail afterwards.
func opening[H closer](f *Fault, op Op, open func() (H, error)) (H, error) {
	var handle, none H
	opened := false
	err := f.run(op, func() (err error) {
		handle, err = open()
		opened = err == nil
		return err
	})
	if err == nil {
		return handle, nil
	}
	if opened {
		handle.Close()
	}
	return none, err
}

// OpenDir implements FS.
func (f *Fault) OpenDir(path string) (Dir, error) {
	dir, err := opening(f, Op{Kind: OpOpenDir, Path: path}, func() (Dir, error) { return f.inner.OpenDir(path) })
	if err != nil {
		return nil, err
	}
	return &faultDir{fault: f, inner: dir, path: path}, nil
}

// MkdirAll implements FS.
func (f *Fault) MkdirAll(path string) error { return mkdirAll(f, path) }

// Usage implements FS.
func (f *Fault) Usage() (usage Usage, err error) {
	err = f.run(Op{Kind: OpUsage, Path: "."}, func() (err error) {
		usage, err = f.inner.Usage()
		return err
	})
	return usage, err
}

// Close closes the wrapped file system; the hook is not called.
func (f *Fault) Close() error { return f.inner.Close() }
