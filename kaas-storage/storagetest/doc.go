// Package storagetest holds the conformance tests of the log engine: what a partition promises, over any file system.
//
// [Run] takes a function that opens an empty file system. A new one, or a disk that somebody doubts, passes all of it before it carries a log:
//
//	func TestConforms(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) vfs.FS { return vfs.NewMem(64 << 20) })
//	}
//
// The tests go through the public API of package storage only. Some run on a virtual clock (testing/synctest), inside whose bubble the file system
// is opened: it may start goroutines there, which must end when it is closed.
package storagetest
