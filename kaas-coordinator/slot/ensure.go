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

// EnsureSlots makes the directories of count slots in dir, each an empty partition whose leaders start above floor, and then the stamp. It can be
// repeated, also after a crash in between, and by several processes at once, but only with the same count until the stamp is there: a late writer would
// replace it. From then on the number of slots is the stamped one, which is returned, whatever count says, and a slot that is missing is not made again.
//
// Errors: ErrIncomplete for a missing slot, *VersionError for another layout, ErrCorrupt, those of storage.InitPartition and the file system's.
func EnsureSlots(dir vfs.Dir, count int, floor storage.Epoch) (int, error) {
	if count < 1 || count > MaxCount {
		return 0, fmt.Errorf("%d slots, not 1 to %d", count, MaxCount)
	}
	stamped, err := readStamp(dir)
	if err == nil {
		return stamped, checkSlots(dir, stamped)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("check %s: %w", dir.Path(), err)
	}
	for i := range count {
		if err := ensureSlot(dir, DirName(i), floor); err != nil {
			return 0, fmt.Errorf("prepare slot %d: %w", i, err)
		}
	}
	// The names must be durable before the stamp says that they are there.
	if err := dir.Sync(); err != nil {
		return 0, fmt.Errorf("sync %s: %w", dir.Path(), err)
	}
	return count, writeStamp(dir, count)
}

func writeStamp(dir vfs.Dir, count int) error {
	text, err := json.Marshal(stamp{Version: stampVersion, Slots: count})
	if err != nil {
		return fmt.Errorf("encode stamp: %w", err)
	}
	if err := vfs.WriteFileAtomic(dir, stampName, append(text, '\n')); err != nil {
		return fmt.Errorf("write stamp: %w", err)
	}
	return nil
}

// readStamp returns the number of slots, and fs.ErrNotExist when there is no stamp.
func readStamp(dir vfs.Dir) (int, error) {
	text, err := vfs.ReadFile(dir, stampName, 1<<12)
	if err != nil {
		return 0, err
	}
	var read stamp
	if err := json.Unmarshal(text, &read); err != nil {
		return 0, fmt.Errorf("%s: %w: %w", stampName, ErrCorrupt, err)
	}
	if read.Version != stampVersion {
		return 0, &VersionError{What: stampName, Version: read.Version}
	}
	if read.Slots < 1 || read.Slots > MaxCount {
		return 0, fmt.Errorf("%s with %d slots: %w", stampName, read.Slots, ErrCorrupt)
	}
	return read.Slots, nil
}

func checkSlots(dir vfs.Dir, count int) error {
	entries, err := dir.List()
	if err != nil {
		return fmt.Errorf("list %s: %w", dir.Path(), err)
	}
	found := make(map[string]bool, len(entries))
	for _, e := range entries {
		found[e.Name] = e.IsDir
	}
	for i := range count {
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
