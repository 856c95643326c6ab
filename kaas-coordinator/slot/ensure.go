package slot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// stampName is written when every slot is durable.
const stampName = "coordinator.json"

// stampVersion is the version of the directory's layout.
const stampVersion = 1

type stamp struct {
	Version int `json:"version"`
	Slots   int `json:"slots"`
}

// DirName is the name of a slot's directory.
func DirName(slot int) string { return strconv.Itoa(slot) }

// EnsureSlots makes the directories of all slots in dir, each an empty partition whose leaders start above floor, and then the stamp. It can be
// repeated, also after a crash in between, and by several processes at once. Once the stamp is there, a slot that is missing is not made again.
//
// Errors: ErrIncomplete for a missing slot, *VersionError for another layout or number of slots, ErrCorrupt, those of storage.InitPartition and the
// file system's.
func EnsureSlots(dir vfs.Dir, floor storage.Epoch) error {
	err := checkStamp(dir)
	if err == nil {
		return checkSlots(dir)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("check %s: %w", dir.Path(), err)
	}
	for i := range Count {
		if err := ensureSlot(dir, DirName(i), floor); err != nil {
			return fmt.Errorf("prepare slot %d: %w", i, err)
		}
	}
	// The names must be durable before the stamp says that they are there.
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir.Path(), err)
	}
	text, err := json.Marshal(stamp{Version: stampVersion, Slots: Count})
	if err != nil {
		return fmt.Errorf("encode stamp: %w", err)
	}
	if err := vfs.WriteFileAtomic(dir, stampName, append(text, '\n')); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// checkStamp returns fs.ErrNotExist when there is none.
func checkStamp(dir vfs.Dir) error {
	text, err := vfs.ReadFile(dir, stampName, 1<<12)
	if err != nil {
		return err
	}
	var read stamp
	if err := json.Unmarshal(text, &read); err != nil {
		return fmt.Errorf("%s: %w: %w", stampName, ErrCorrupt, err)
	}
	if read.Version != stampVersion {
		return &VersionError{What: stampName, Version: read.Version}
	}
	if read.Slots != Count {
		return &VersionError{What: fmt.Sprintf("%s with %d slots", stampName, read.Slots)}
	}
	return nil
}

func checkSlots(dir vfs.Dir) error {
	entries, err := dir.List()
	if err != nil {
		return fmt.Errorf("list %s: %w", dir.Path(), err)
	}
	found := make(map[string]bool, len(entries))
	for _, e := range entries {
		found[e.Name] = e.IsDir
	}
	for i := range Count {
		if !found[DirName(i)] {
			return fmt.Errorf("slot %d of %s: %w", i, dir.Path(), ErrIncomplete)
		}
	}
	return nil
}

func ensureSlot(dir vfs.Dir, name string, floor storage.Epoch) error {
	if err := dir.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	inner, err := dir.OpenDir(name)
	if err != nil {
		return err
	}
	return errors.Join(storage.InitPartition(inner, floor), inner.Close())
}
