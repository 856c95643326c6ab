package vfs

import (
	"errors"
	"io/fs"
)

// mkdirAll is FS.MkdirAll for every implementation, made of Dir's operations, so
// that a fault or a power cut can come between any two of them.
func mkdirAll(fsys FS, path string) error {
	elements, err := splitPath("mkdir", path)
	if err != nil {
		return err
	}
	dir, err := fsys.OpenDir(".")
	if err != nil {
		return err
	}
	for _, element := range elements {
		child, err := mkdirDurably(dir, element)
		if closeErr := dir.Close(); err == nil && closeErr != nil {
			child.Close()
			err = closeErr
		}
		if err != nil {
			return err
		}
		dir = child
	}
	return dir.Close()
}

func mkdirDurably(parent Dir, name string) (Dir, error) {
	if err := parent.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	// Also for a directory that was there: its maker may have died before its sync.
	if err := parent.Sync(); err != nil {
		return nil, err
	}
	return parent.OpenDir(name)
}
