package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// DestroyPartition deletes a partition's directory under parent. The order makes it safe to stop anywhere and to be finished by anybody:
// the claim that no epoch is above fences every owner and every taker; without a manifest nobody takes what is left; that claim goes last.
// The caller has raised the cluster's epoch floor above HighestEpoch before, so that a topic of the same name starts above it.
//
// A file that an old owner made meanwhile lets the removal begin again; the end of ctx ends it between two tries. What comes back each
// time, or is not ours, ends in vfs.ErrNotEmpty.
func DestroyPartition(ctx context.Context, parent vfs.Dir, name string) error {
	for try := 1; ; try++ {
		err := destroyOnce(parent, name)
		again := errors.Is(err, vfs.ErrNotEmpty) || errors.Is(err, fs.ErrExist) || errors.Is(err, ErrDeleted) || isGone(err)
		if !again || try == destroyTries {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// destroyTries is more than the owners and other deleters that can be at work on one partition.
const destroyTries = 16

// destroyOnce fails when somebody else removes the directory, or adds to it, meanwhile.
func destroyOnce(parent vfs.Dir, name string) error {
	dir, err := parent.OpenDir(name)
	if isGone(err) {
		return syncRemoval(parent) // whoever removed it may not have come to syncing that
	}
	if err != nil {
		return &StorageError{Op: "open", Path: parent.Path() + "/" + name, Err: err}
	}
	err = emptyPartition(dir)
	if closed := dir.Close(); err == nil && closed != nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("delete partition: %w", err)
	}
	if err := parent.Rmdir(name); err != nil && !isGone(err) {
		return &StorageError{Op: "remove directory", Path: parent.Path() + "/" + name, Err: err}
	}
	return syncRemoval(parent)
}

func syncRemoval(parent vfs.Dir) error {
	if err := parent.Sync(); err != nil && !isGone(err) {
		return &StorageError{Op: "sync directory", Path: parent.Path(), Err: err}
	}
	return nil
}

// emptyPartition fences, then removes manifests, then the rest, then the fence.
func emptyPartition(dir vfs.Dir) error {
	if err := dir.Mkdir(claimName(claimDeleted)); err != nil && !errors.Is(err, fs.ErrExist) {
		return &StorageError{Op: "make claim", Path: dir.Path(), Err: err}
	}
	// Durable before a claim goes: a crash that undid only this one would leave an epoch's name free for a second taker.
	if err := dir.Sync(); err != nil {
		return &StorageError{Op: "sync directory", Path: dir.Path(), Err: err}
	}
	if err := removeOtherClaims(dir); err != nil {
		return err
	}
	manifests := func(name string) bool { _, ok := parseManifest(name); return ok }
	for _, kind := range []func(string) bool{manifests, func(string) bool { return true }} {
		if err := removeFiles(dir, kind); err != nil {
			return err
		}
		if err := dir.Sync(); err != nil {
			return &StorageError{Op: "sync directory", Path: dir.Path(), Err: err}
		}
	}
	if err := dir.Rmdir(claimName(claimDeleted)); err != nil && !isGone(err) {
		return &StorageError{Op: "remove claim", Path: dir.Path(), Err: err}
	}
	return nil
}

// removeOtherClaims lists again after removing, as a taker does: one that listed before our claim was made may have claimed in between.
func removeOtherClaims(dir vfs.Dir) error {
	for {
		names, err := listPartition(dir)
		if err != nil {
			return err
		}
		others := 0
		for _, number := range names.claims {
			if number == claimDeleted {
				continue
			}
			others++
			if err := dir.Rmdir(claimName(number)); err != nil && !isGone(err) {
				return &StorageError{Op: "remove claim", Path: dir.Path(), Err: err}
			}
		}
		if err := dir.Sync(); err != nil {
			return &StorageError{Op: "sync directory", Path: dir.Path(), Err: err}
		}
		if others == 0 {
			return nil
		}
	}
}

func removeFiles(dir vfs.Dir, wanted func(name string) bool) error {
	entries, err := dir.List()
	if err != nil {
		return &StorageError{Op: "list", Path: dir.Path(), Err: err}
	}
	for _, entry := range entries {
		if entry.IsDir || !wanted(entry.Name) {
			continue
		}
		if err := dir.Remove(entry.Name); err != nil && !isGone(err) {
			return &StorageError{Op: "remove", Path: dir.Path() + "/" + entry.Name, Err: err}
		}
	}
	return nil
}
