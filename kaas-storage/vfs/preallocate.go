package vfs

import "errors"

// ErrNoPreallocation is a file system that cannot reserve blocks behind the end of a file.
var ErrNoPreallocation = errors.New("blocks cannot be reserved behind the end of the file")

// Preallocator is a File that can reserve blocks for what will be written. It is an economy and no promise: contents and size stay as they are, so
// that nobody who reads the file can tell.
type Preallocator interface {
	// Preallocate reserves blocks for size bytes from off on. Any error means that nothing may be relied on;
	// ErrNoPreallocation that trying again is in vain.
	Preallocate(off, size int64) error
}
