package fileserver

import (
	"fmt"
	"syscall"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// The changes of a directory. The server makes them at once, and they are durable after a sync of the directory.

func (d *dir) changed(kind vfs.ChangeKind, name string, child *inode) {
	d.node.modified = time.Now()
	d.node.pending = append(d.node.pending, &change{
		Change: Change{Client: d.process.client.name, Kind: kind, Name: name},
		client: d.process.client, child: child,
	})
}

func (d *dir) Mkdir(name string) error {
	defer d.lock()()
	_, err := d.link("mkdir", name, vfs.ChangeMkdir, newDirectory)
	return err
}

func (d *dir) Create(name string) (vfs.File, error) {
	defer d.lock()()
	child, err := d.link("create", name, vfs.ChangeCreate, newFile)
	if err != nil {
		return nil, err
	}
	return d.open(child, name, true), nil
}

func (d *dir) link(operation, name string, kind vfs.ChangeKind, create func(id string) *inode) (*inode, error) {
	if err := d.begin(operation, name); err != nil {
		return nil, err
	}
	if _, taken := d.node.entries[name]; taken {
		return nil, pathError(operation, d.path, name, syscall.EEXIST)
	}
	child := d.process.client.server.add(d.process, create)
	d.node.entries[name] = child
	d.process.client.learn(d.node, name, child)
	d.changed(kind, name, child)
	return child, nil
}

func (d *dir) Rmdir(name string) error {
	defer d.lock()()
	child, err := d.find("rmdir", name)
	switch {
	case err != nil:
		return err
	case !child.isDir():
		return pathError("rmdir", d.path, name, syscall.ENOTDIR)
	case len(child.entries) > 0:
		return pathError("rmdir", d.path, name, vfs.ErrNotEmpty)
	}
	d.unlink(name, child, vfs.ChangeRmdir)
	return nil
}

func (d *dir) Remove(name string) error {
	defer d.lock()()
	child, err := d.find("remove", name)
	if err != nil {
		return err
	}
	if child.isDir() {
		return pathError("remove", d.path, name, syscall.EISDIR)
	}
	if d.openElsewhere(child) {
		d.hide(name, child)
		return nil
	}
	d.unlink(name, child, vfs.ChangeRemove)
	return nil
}

func (d *dir) unlink(name string, child *inode, kind vfs.ChangeKind) {
	delete(d.node.entries, name)
	child.removed, child.remover = true, d.process
	d.process.client.learn(d.node, name, nil)
	d.changed(kind, name, child)
}

// openElsewhere reports whether another process of the same client has the file open.
func (d *dir) openElsewhere(n *inode) bool {
	cached, ok := d.process.client.files[n]
	if !ok {
		return false
	}
	for p, handles := range cached.handles {
		if p != d.process && handles > 0 {
			return true
		}
	}
	return false
}

// hide renames a file that cannot go yet, as an NFS client does.
func (d *dir) hide(name string, child *inode) {
	s := d.process.client.server
	s.silly++
	hidden := fmt.Sprintf(".nfs%016x", s.silly)
	child.sillyOwner = d.process.client
	d.move(name, hidden, child)
}

func (d *dir) move(oldName, newName string, child *inode) {
	delete(d.node.entries, oldName)
	d.node.entries[newName] = child
	d.process.client.learn(d.node, oldName, nil)
	d.process.client.learn(d.node, newName, child)
	d.changed(vfs.ChangeRename, newName, child)
}

func (d *dir) Rename(oldName, newName string) error {
	defer d.lock()()
	child, err := d.find("rename", oldName)
	if err != nil {
		return err
	}
	if err := d.begin("rename", newName); err != nil {
		return err
	}
	replaced := d.node.entries[newName]
	if replaced == child {
		return nil
	}
	if err := mayReplace(child, replaced); err != nil {
		return pathError("rename", d.path, newName, err)
	}
	if replaced != nil {
		if d.openElsewhere(replaced) {
			d.hide(newName, replaced)
		} else {
			replaced.removed, replaced.remover = true, d.process
		}
	}
	d.move(oldName, newName, child)
	return nil
}

// mayReplace is rename's rule for the kinds of both names.
func mayReplace(child, replaced *inode) error {
	switch {
	case replaced == nil:
		return nil
	case child.isDir() && !replaced.isDir():
		return syscall.ENOTDIR
	case !child.isDir() && replaced.isDir():
		return syscall.EISDIR
	case replaced.isDir() && len(replaced.entries) > 0:
		return vfs.ErrNotEmpty
	}
	return nil
}

// reveal removes a hidden file once its client has closed it.
func (c *Client) reveal(n *inode, p *Process) {
	for parent := range c.server.inodes {
		for name, child := range parent.entries {
			if child == n {
				d := &dir{process: p, node: parent}
				d.unlink(name, n, vfs.ChangeRemove)
				return
			}
		}
	}
}
