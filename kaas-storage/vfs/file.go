package vfs

import "os"

// File is an opened file. Writing one that was opened for reading fails.
// A removed file stays readable and writable through its open handles.
type File interface {
	// ReadAt follows io.ReaderAt: fewer bytes than asked for come with an error,
	// io.EOF at the end of the file.
	ReadAt(p []byte, off int64) (int, error)
	// WriteAt follows io.WriterAt. Writing past the end fills the gap with zeros.
	WriteAt(p []byte, off int64) (int, error)
	// WriteVec writes the buffers one after the other, from off on. It
	// returns the bytes written; fewer than given come with an error
	// (io.ErrShortWrite if the system made no progress). It modifies neither
	// bufs nor its elements and keeps none of them.
	WriteVec(bufs [][]byte, off int64) (int64, error)
	// Sync makes the file's data and size durable (fdatasync), not its name:
	// that is what Dir.Sync is for.
	Sync() error
	// Size is the file's length in bytes.
	Size() (int64, error)
	// Name is the name by which the file was opened, for messages only.
	Name() string
	Close() error
	// OSFile is the file's descriptor for sendfile, nil if there is none. The
	// caller must not close it.
	OSFile() *os.File
}
