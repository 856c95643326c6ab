package fileserver

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// dir is an opened directory.
type dir struct {
	process *Process
	node    *inode
	path    string
	lost    int // losses of the client's entries that this handle has reported
	closed  bool
}

func (d *dir) Path() string { return d.path }

func (d *dir) lock() func() {
	d.process.client.server.mu.Lock()
	return d.process.client.server.mu.Unlock
}

// usable reports why no operation on the directory itself can be made.
func (d *dir) usable() error {
	switch {
	case d.closed:
		return fs.ErrClosed
	case d.node.gone:
		return syscall.ESTALE
	case d.node.removed && d.node.remover.client == d.process.client:
		return syscall.ENOENT
	case d.node.removed:
		return syscall.ESTALE
	}
	return nil
}

func (d *dir) begin(operation, name string) error {
	if err := checkName(operation, d.path, name); err != nil {
		return err
	}
	if err := d.usable(); err != nil {
		return pathError(operation, d.path, name, err)
	}
	return nil
}

// lookup finds an entry that is to be read: a cache may answer. An entry that the server has dropped is looked up anew.
func (d *dir) lookup(operation, name string) (*inode, error) {
	if err := d.begin(operation, name); err != nil {
		return nil, err
	}
	child := d.process.client.resolve(d.node, name)
	if child != nil && (child.gone || child.removed) {
		child = d.node.entries[name]
		d.process.client.learn(d.node, name, child)
	}
	if child == nil {
		return nil, pathError(operation, d.path, name, syscall.ENOENT)
	}
	return child, nil
}

// find finds an entry that is to be changed: the server answers.
func (d *dir) find(operation, name string) (*inode, error) {
	if err := d.begin(operation, name); err != nil {
		return nil, err
	}
	child := d.node.entries[name]
	if child == nil {
		return nil, pathError(operation, d.path, name, syscall.ENOENT)
	}
	return child, nil
}

func (d *dir) OpenDir(name string) (vfs.Dir, error) {
	defer d.lock()()
	child, err := d.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if !child.isDir() {
		return nil, pathError("open", d.path, name, syscall.ENOTDIR)
	}
	return d.process.openNode(child, path.Join(d.path, name)), nil
}

func (d *dir) Open(name string) (vfs.File, error)      { return d.openFile(name, false) }
func (d *dir) OpenWrite(name string) (vfs.File, error) { return d.openFile(name, true) }

func (d *dir) openFile(name string, writable bool) (vfs.File, error) {
	defer d.lock()()
	child, err := d.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if child.isDir() {
		return nil, pathError("open", d.path, name, syscall.EISDIR)
	}
	return d.open(child, name, writable), nil
}

// open asks for the attributes, whatever the cache says: close-to-open.
func (d *dir) open(n *inode, name string, writable bool) *file {
	c := d.process.client
	cached := c.file(n)
	cached.handles[d.process]++
	cached.revalidate(n)
	c.ask(n)
	return &file{process: d.process, node: n, directory: d.path, name: name, writable: writable}
}

func (d *dir) Stat(name string) (vfs.Entry, error) {
	defer d.lock()()
	if err := d.begin("stat", name); err != nil {
		return vfs.Entry{}, err
	}
	c := d.process.client
	child := c.resolve(d.node, name)
	if child == nil {
		return vfs.Entry{}, pathError("stat", d.path, name, syscall.ENOENT)
	}
	entry := vfs.Entry{Name: name, IsDir: child.isDir()}
	known := c.attributesOf(child)
	entry.ModTime = known.modified
	if !entry.IsDir {
		entry.Size = known.size
	}
	return entry, nil
}

func (d *dir) List() ([]vfs.Entry, error) {
	defer d.lock()()
	if err := d.usable(); err != nil {
		return nil, pathError("list", d.path, "", err)
	}
	c := d.process.client
	c.forget(d.node)
	withAttributes := decide(c.server.policy.Attributes)
	entries := make([]vfs.Entry, 0, len(d.node.entries))
	for _, name := range slices.Sorted(maps.Keys(d.node.entries)) {
		child := d.node.entries[name]
		entries = append(entries, vfs.Entry{Name: name, IsDir: child.isDir()})
		if withAttributes {
			c.learn(d.node, name, child)
			c.ask(child)
		}
	}
	return entries, nil
}

// Sync fails once for each handle whose client lost an entry of this directory at a crash of the server.
func (d *dir) Sync() error {
	defer d.lock()()
	if d.closed {
		return pathError("sync", d.path, "", fs.ErrClosed)
	}
	if d.node.gone {
		return pathError("sync", d.path, "", syscall.ESTALE)
	}
	if lost := d.process.client.lost[d.node]; lost != d.lost {
		d.lost = lost
		return pathError("sync", d.path, "", syscall.EIO)
	}
	for _, c := range d.node.pending {
		c.applyEntry(d.node.durableEntries)
	}
	d.node.pending = nil
	return nil
}

func (d *dir) Hold(name string) (vfs.Claim, error) {
	defer d.lock()()
	child, err := d.lookup("hold", name)
	if err != nil {
		return nil, err
	}
	if !child.isDir() {
		return nil, pathError("hold", d.path, name, syscall.ENOTDIR)
	}
	return &claim{process: d.process, server: d.process.client.server, node: child, parent: d.node, path: path.Join(d.path, name)}, nil
}

func (d *dir) Close() error {
	defer d.lock()()
	if d.closed {
		return pathError("close", d.path, "", fs.ErrClosed)
	}
	d.closed = true
	return nil
}

// claim is a held directory. Its handle names the inode, so that it survives a crash of the server as long as the directory does.
type claim struct {
	process *Process
	server  *Server
	node    *inode
	parent  *inode // for good: a rename leaves an inode in its directory
	path    string
	closed  bool
}

func (c *claim) Check() error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.check()
}

// Parent implements vfs.Claim. The client knows the parent without asking; the check asks the server.
func (c *claim) Parent() (vfs.Dir, error) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.process.openNode(c.parent, path.Dir(c.path)), nil
}

func (c *claim) check() error {
	switch {
	case c.closed:
		return pathError("check", c.path, "", fs.ErrClosed)
	case c.node.removed || c.node.gone:
		return pathError("check", c.path, "", vfs.ErrUnlinked)
	}
	return nil
}

func (c *claim) Close() error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if c.closed {
		return pathError("close", c.path, "", fs.ErrClosed)
	}
	c.closed = true
	return nil
}
