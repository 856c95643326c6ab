package vfs

import "time"

// FS is one file system, rooted where its constructor says. Paths are slash
// separated and relative to that root; "." is the root itself. A path with an
// empty, "." or ".." element, or a leading slash, is ErrName.
type FS interface {
	// OpenDir opens a directory that must exist. Links are not followed.
	OpenDir(path string) (Dir, error)
	// MkdirAll makes a directory (mode 0750) and every missing level above it.
	// The parent of each level is synced, also of those that were there
	// already, because whoever made them may not have come to it.
	MkdirAll(path string) error
	// Usage says how large the file system is and how much of it is free.
	Usage() (Usage, error)
	// Close releases the root. Opened directories and files stay usable.
	Close() error
}

// Dir is an opened directory. Every operation is relative to the handle, never
// to a path, so that renaming or making the directory anew cannot redirect it.
// Names are single path elements: one that is empty, ".", "..", or has a
// separator or NUL in it is ErrName. After the directory was removed, operations
// on names in it give fs.ErrNotExist.
type Dir interface {
	// Path is the path by which the directory was opened, for messages only.
	Path() string
	// OpenDir opens a sub-directory without following a link.
	OpenDir(name string) (Dir, error)
	// Mkdir makes a directory of mode 0750, atomically; fs.ErrExist if the
	// name is taken, by whatever it is.
	Mkdir(name string) error
	// Rmdir removes an empty directory; ErrNotEmpty if it is not empty.
	Rmdir(name string) error
	// Remove removes a file. It refuses directories.
	Remove(name string) error
	// Rename renames within this directory and replaces an existing file atomically.
	Rename(oldName, newName string) error
	// Create makes a file of mode 0640 for reading and writing; fs.ErrExist
	// if the name is taken.
	Create(name string) (File, error)
	// Open opens a file for reading only, without following a link.
	Open(name string) (File, error)
	// OpenWrite opens an existing file for reading and writing, without
	// following a link and without changing it. The log engine uses it to go
	// on appending to a file of its own epoch that it had closed while idle.
	OpenWrite(name string) (File, error)
	// List returns what is in the directory, sorted by name, names with a
	// leading dot included. It asks the server for the directory's attributes
	// first and lists through a new handle, so that a network file system
	// cannot answer from a stale cache. Only Name and IsDir are filled:
	// sizes and times would cost one round trip for each entry (see Stat).
	List() ([]Entry, error)
	// Stat describes one entry, without following a link. All fields are filled.
	Stat(name string) (Entry, error)
	// Sync makes the directory's entries durable (fsync).
	Sync() error
	// Hold opens a claim on a sub-directory, without following a link.
	Hold(name string) (Claim, error)
	Close() error
}

// Entry is one name in a directory.
type Entry struct {
	Name  string
	IsDir bool
	// Size is in bytes. Zero in the answers of List and for directories.
	Size int64
	// ModTime is the time of the last change of content. Zero in the answers of List.
	ModTime time.Time
}

// Usage is the space of a file system, in bytes.
type Usage struct {
	Total int64
	// Free is what this process's user may still write.
	Free int64
}

// Claim is a held directory whose removal by anybody, on any machine, can be
// noticed by its holder.
type Claim interface {
	// Check returns nil while the directory is still linked, ErrUnlinked once
	// it has been removed, even if another of the same name has taken its
	// place. Any other error means that it could not be checked. It asks
	// the server, never a cache.
	Check() error
	// Parent opens the directory that holds the claim, by way of the claim's
	// handle and not of any path: it is the very directory in which the claim
	// was made, whatever that is called by now. It makes the same check as
	// Check, after opening: ErrUnlinked once the claim has been removed. So a
	// holder need not keep the directory open beside its claim.
	Parent() (Dir, error)
	Close() error
}
