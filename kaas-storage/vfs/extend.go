package vfs

// Extender is a File that may be made longer ahead of what is written. A write inside of a file whose blocks hold data already changes nothing but
// these blocks, so that its sync need not wait for the file system's own records as well.
type Extender interface {
	// Extend writes size zeros from off on, which must be the end of the file. An error may leave some of them.
	// ErrNoPreallocation says that nothing was done because nothing would be gained.
	Extend(off, size int64) error
	// Truncate makes the file end at size, which must not be above its length. As with writes, Sync makes it durable.
	Truncate(size int64) error
}
