package storage

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// probePrefix begins the names of the directories that CheckFencing makes. No topic's directory begins with a dot.
const probePrefix = ".kaas-probe."

// probeLifetime is how old, by the file system's own clock, a probe must be to count as left over from a crash: others may be at work on theirs.
const probeLifetime = time.Hour

// CheckFencing tries, in a directory, what every claim relies on: that a directory can be made once, and that whoever holds it learns of its removal.
// It returns ErrNotFencing where that is not so, a *StorageError where it could not be tried or what it made could not be removed, both where both
// hold, and nil otherwise. One process cannot see whether a removal on another machine is noticed, too; the program kaas-log tries that.
//
// Four questions: mkdir is the atomic step; a probe that a crash leaves behind is removed by whoever comes an hour later; nothing is written in its name, so that
// nobody need be fenced; and the name is random, so that it is nobody else's.
func CheckFencing(dir vfs.Dir) error {
	name := probePrefix + strings.ToLower(rand.Text())
	if err := dir.Mkdir(name); err != nil {
		return &StorageError{Op: "make probe", Path: dir.Path(), Err: err}
	}
	verdict := probe(dir, name)
	if err := dir.Rmdir(name); err != nil && !isGone(err) {
		return errors.Join(verdict, &StorageError{Op: "remove probe", Path: dir.Path(), Err: err})
	}
	return verdict
}

// probe makes, holds and removes a claim.
func probe(dir vfs.Dir, name string) error {
	if err := removeOldProbes(dir, name); err != nil {
		return &StorageError{Op: "remove old probes", Path: dir.Path(), Err: err}
	}
	switch err := dir.Mkdir(name); {
	case err == nil:
		return notFencing(dir, "it makes one directory twice")
	case !errors.Is(err, fs.ErrExist):
		return &StorageError{Op: "make probe again", Path: dir.Path(), Err: err}
	}
	held, err := dir.Hold(name)
	if err != nil {
		return &StorageError{Op: "hold probe", Path: dir.Path(), Err: err}
	}
	defer held.Close()
	if err := lookLinked(held); err != nil {
		if errors.Is(err, vfs.ErrUnlinked) {
			return notFencing(dir, "a directory that is there looks removed to whoever holds it")
		}
		return &StorageError{Op: "check probe", Path: dir.Path(), Err: err}
	}
	if err := dir.Rmdir(name); err != nil {
		return &StorageError{Op: "remove probe", Path: dir.Path(), Err: err}
	}
	switch err := held.Check(); {
	case err == nil:
		return notFencing(dir, "a directory that was removed looks like before to whoever holds it")
	case !errors.Is(err, vfs.ErrUnlinked):
		return &StorageError{Op: "check removed probe", Path: dir.Path(), Err: err}
	}
	return nil
}

// lookLinked makes the check and, by way of the claim, finds the directory that it is in.
func lookLinked(held vfs.Claim) error {
	if err := held.Check(); err != nil {
		return err
	}
	parent, err := held.Parent()
	if err != nil {
		return err
	}
	return parent.Close()
}

func notFencing(dir vfs.Dir, what string) error {
	return fmt.Errorf("%s: %w: %s. Two brokers could acknowledge records to one log, and one of them would lose its own. "+
		"Use a local file system (ext4, xfs, tmpfs) or NFS 4.1 and later, mounted by the kernel; "+
		"what is mounted through FUSE, such as object stores, often cannot do it", dir.Path(), ErrNotFencing, what)
}

// removeOldProbes compares times of one clock, the file system's.
func removeOldProbes(dir vfs.Dir, own string) error {
	now, err := dir.Stat(own)
	if err != nil {
		return err
	}
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir || !strings.HasPrefix(entry.Name, probePrefix) || entry.Name == own {
			continue
		}
		old, err := dir.Stat(entry.Name)
		if err == nil && now.ModTime.Sub(old.ModTime) > probeLifetime {
			err = dir.Rmdir(entry.Name)
		}
		if err != nil && !isGone(err) {
			return err
		}
	}
	return nil
}
