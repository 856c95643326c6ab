package vfs

import (
	"errors"
	"io/fs"
	"path"
	"syscall"
)

// Errors to branch on. Implementations wrap them in *fs.PathError together with
// the operation and the path. Everything else is what the system
// says: errors.Is works with fs.ErrExist, fs.ErrNotExist, fs.ErrClosed,
// syscall.ENOSPC, syscall.EROFS, syscall.EMFILE and their like on all
// implementations.
var (
	// ErrName is a name that is not a single path element.
	ErrName = errors.New("not a valid file name")
	// ErrUnlinked is a held directory that has been removed.
	ErrUnlinked = errors.New("held directory has been removed")
	// ErrNotEmpty is the removal of a directory that has entries.
	ErrNotEmpty error = syscall.ENOTEMPTY
	// ErrUnsupported is the real file system on a system other than Linux.
	ErrUnsupported = errors.New("durable storage needs Linux")
	// ErrLimit is a file larger than its reader allows.
	ErrLimit = errors.New("file is larger than allowed")
)

func pathError(operation, directory, name string, err error) error {
	return &fs.PathError{Op: operation, Path: path.Join(directory, name), Err: err}
}
