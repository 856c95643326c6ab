// Package vfs is the seam between the log engine and a file system.
//
// It offers exactly the calls that the engine's safety argument is made of:
// operations relative to an opened directory, exclusive creation of
// directories, held directories whose removal can be noticed ([Claim]),
// data syncs and directory syncs. Nothing here knows what a log is.
//
// There are four file systems:
//
//   - [OS] is the real one, on Linux.
//   - [Mem] keeps everything in memory, within a budget of bytes.
//   - [Fault] wraps another one and calls a hook around every operation, which
//     may fail it, shorten it or hold it.
//   - [Crash] is a memory file system that knows what has been synced and can
//     show what a power cut leaves behind.
//
// All of them pass the conformance tests in package vfstest.
//
// # Life cycle
//
// Close what was opened: files, directories, claims, then the file system.
// Closing a file system does not close what was opened from it.
//
// # Concurrency
//
// Everything is safe for concurrent use, except that closing a handle while
// another call uses it makes that call fail with [fs.ErrClosed].
package vfs
