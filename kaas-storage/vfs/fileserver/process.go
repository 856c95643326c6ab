package fileserver

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Process is the file system as one process of a client sees it. It implements vfs.FS.
type Process struct {
	client *Client
	name   string
	made   int // inodes, under the server's mutex
}

// longestName is Linux's NAME_MAX.
const longestName = 255

// capacity is what Usage reports; nothing counts against it.
const capacity = 1 << 40

func pathError(operation, directory, name string, err error) error {
	return &fs.PathError{Op: operation, Path: path.Join(directory, name), Err: err}
}

func checkName(operation, directory, name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return &fs.PathError{Op: operation, Path: directory + "/" + name, Err: vfs.ErrName}
	}
	if len(name) > longestName {
		return pathError(operation, directory, name, syscall.ENAMETOOLONG)
	}
	return nil
}

func elements(operation, name string) ([]string, error) {
	if name == "." {
		return nil, nil
	}
	split := strings.Split(name, "/")
	for _, element := range split {
		if err := checkName(operation, "", element); errors.Is(err, vfs.ErrName) {
			return nil, &fs.PathError{Op: operation, Path: name, Err: vfs.ErrName}
		}
	}
	return split, nil
}

// OpenDir implements vfs.FS.
func (p *Process) OpenDir(name string) (vfs.Dir, error) {
	split, err := elements("open", name)
	if err != nil {
		return nil, err
	}
	s := p.client.server
	s.mu.Lock()
	defer s.mu.Unlock()
	node := s.root
	for _, element := range split {
		child := p.client.resolve(node, element)
		switch {
		case child == nil:
			return nil, pathError("open", "", name, syscall.ENOENT)
		case !child.isDir():
			return nil, pathError("open", "", name, syscall.ENOTDIR)
		case child.gone || child.removed:
			child = node.entries[element] // ESTALE makes a client look the name up anew
			if child == nil || !child.isDir() {
				return nil, pathError("open", "", name, syscall.ENOENT)
			}
		}
		node = child
	}
	return p.openNode(node, name), nil
}

func (p *Process) openNode(node *inode, name string) *dir {
	return &dir{process: p, node: node, path: name, lost: p.client.lost[node]}
}

// MkdirAll implements vfs.FS, by the operations of directories.
func (p *Process) MkdirAll(name string) error {
	split, err := elements("mkdir", name)
	if err != nil {
		return err
	}
	current, err := p.OpenDir(".")
	if err != nil {
		return err
	}
	for _, element := range split {
		child, err := mkdirDurably(current, element)
		if err := errors.Join(err, current.Close()); err != nil {
			return err
		}
		current = child
	}
	return current.Close()
}

func mkdirDurably(parent vfs.Dir, name string) (vfs.Dir, error) {
	if err := parent.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := parent.Sync(); err != nil {
		return nil, err
	}
	return parent.OpenDir(name)
}

// Usage implements vfs.FS.
func (p *Process) Usage() (vfs.Usage, error) { return vfs.Usage{Total: capacity, Free: capacity}, nil }

// Close implements vfs.FS. It does nothing.
func (p *Process) Close() error { return nil }
