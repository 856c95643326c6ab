//go:build !linux

package vfs

import "runtime"

// OS answers ErrUnsupported: the fence check needs O_PATH and statx, which only
// Linux has. Use Mem here.
func OS(root string) (FS, error) {
	return nil, pathError("open", root, "", unsupportedError{system: runtime.GOOS})
}

type unsupportedError struct{ system string }

func (e unsupportedError) Error() string {
	return ErrUnsupported.Error() + ", this is " + e.system
}

func (e unsupportedError) Unwrap() error { return ErrUnsupported }
