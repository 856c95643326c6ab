package storage

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// partitionDir is the directory of a partition that is led here. It is closed while the partition is idle, and then opened again by way of the
// claim: that leads to the directory in which the claim was made, whatever has been renamed or made anew since, and fails once the claim is gone.
// So an idle partition keeps one descriptor, and who has lost a partition while it was idle does not come to its files any more.
type partitionDir struct {
	sharedHandle[vfs.Dir]

	path   string
	claim  *claim      // set by reopenThrough
	fenced func(error) // called when the claim turns out to be gone; set by newPartition

	made   atomic.Int64 // names made, which a sync must see to
	synced atomic.Int64 // how many of them are durable

	syncing chan struct{} // holds a token during a sync
	failed  error         // of a sync, for whoever holds the token
}

// newPartitionDir takes over an opened directory. It stays open until reopenThrough.
func newPartitionDir(dir vfs.Dir) *partitionDir {
	d := &partitionDir{path: dir.Path(), syncing: make(chan struct{}, 1)}
	d.handle = dir
	d.opened.Store(true)
	return d
}

// reopenThrough lets the directory be closed whenever nobody uses it, and begins with that: a process that takes thousands of partitions over at its
// start cannot have as many open until each counts as idle.
func (d *partitionDir) reopenThrough(c *claim) {
	d.claim = c
	d.closeUnused()
}

// closeIdle closes the directory if nobody has used it since the last call.
func (d *partitionDir) closeIdle() { d.closeUnless(func() bool { return d.used || d.unsynced() }) }

// closeUnused closes the directory if nobody is using it.
func (d *partitionDir) closeUnused() { d.closeUnless(d.unsynced) }

// unsynced reports whether a name that was made by way of this handle may not be durable yet. It stays open for so long: when the server lost the
// name, only handles from before that are told so by a sync.
func (d *partitionDir) unsynced() bool { return d.made.Load() != d.synced.Load() }

// open is called where the directory had been closed.
func (d *partitionDir) open() (vfs.Dir, error) {
	dir, err := d.claim.held.Parent()
	if errors.Is(err, vfs.ErrUnlinked) {
		err = fmt.Errorf("epoch %d of %s: %w", d.claim.epoch, d.path, ErrFenced)
		d.fenced(err)
	}
	return dir, err
}

// through makes one call on the open directory.
func through[R any](d *partitionDir, call func(vfs.Dir) (R, error)) (result R, err error) {
	dir, err := d.use(d)
	if err != nil {
		return result, err
	}
	defer d.release()
	return call(dir)
}

func (d *partitionDir) change(call func(vfs.Dir) error) error {
	_, err := through(d, func(dir vfs.Dir) (struct{}, error) { return struct{}{}, call(dir) })
	return err
}

// Path implements vfs.Dir, as the methods below do.
func (d *partitionDir) Path() string { return d.path }

func (d *partitionDir) OpenDir(name string) (vfs.Dir, error) {
	return through(d, func(dir vfs.Dir) (vfs.Dir, error) { return dir.OpenDir(name) })
}

func (d *partitionDir) Mkdir(name string) error {
	return d.change(func(dir vfs.Dir) error {
		d.made.Add(1)
		return dir.Mkdir(name)
	})
}

func (d *partitionDir) Rmdir(name string) error {
	return d.change(func(dir vfs.Dir) error { return dir.Rmdir(name) })
}

func (d *partitionDir) Remove(name string) error {
	return d.change(func(dir vfs.Dir) error { return dir.Remove(name) })
}

func (d *partitionDir) Rename(oldName, newName string) error {
	return d.change(func(dir vfs.Dir) error {
		d.made.Add(1)
		return dir.Rename(oldName, newName)
	})
}

func (d *partitionDir) Create(name string) (vfs.File, error) {
	return through(d, func(dir vfs.Dir) (vfs.File, error) {
		d.made.Add(1)
		return dir.Create(name)
	})
}

func (d *partitionDir) Open(name string) (vfs.File, error) {
	return through(d, func(dir vfs.Dir) (vfs.File, error) { return dir.Open(name) })
}

func (d *partitionDir) OpenWrite(name string) (vfs.File, error) {
	return through(d, func(dir vfs.Dir) (vfs.File, error) { return dir.OpenWrite(name) })
}

func (d *partitionDir) List() ([]vfs.Entry, error) { return through(d, vfs.Dir.List) }

func (d *partitionDir) Stat(name string) (vfs.Entry, error) {
	return through(d, func(dir vfs.Dir) (vfs.Entry, error) { return dir.Stat(name) })
}

// Sync implements vfs.Dir. Only one is made at a time, and none after one that failed: a name that the server has lost is told of by one sync, and
// concerns everybody who made a name before it.
func (d *partitionDir) Sync() error {
	d.syncing <- struct{}{}
	defer func() { <-d.syncing }()
	if d.failed != nil {
		return d.failed
	}
	d.failed = d.change(func(dir vfs.Dir) error {
		made := d.made.Load()
		err := dir.Sync()
		if err == nil {
			d.synced.Store(made)
		}
		return err
	})
	return d.failed
}

func (d *partitionDir) Hold(name string) (vfs.Claim, error) {
	return through(d, func(dir vfs.Dir) (vfs.Claim, error) { return dir.Hold(name) })
}

// Close closes the directory for good, when its last user is done.
func (d *partitionDir) Close() error {
	d.doom(func() {})
	return nil
}
