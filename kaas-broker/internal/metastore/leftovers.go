package metastore

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// temporary is how vfs.WriteFileAtomic names what it has not renamed yet. Editors name theirs otherwise.
var temporary = regexp.MustCompile(`^\..+\.(yaml|yml|json)\.[A-Z2-7]{26}\.tmp$`)

// removeLeftovers removes what writers that died have left. One that still lives has been fenced, and its rename fails.
func removeLeftovers(dir vfs.Dir) error {
	entries, err := dir.List()
	if err != nil {
		return fmt.Errorf("list %s: %w", dir.Path(), err)
	}
	for _, entry := range entries {
		if entry.IsDir || !temporary.MatchString(entry.Name) {
			continue
		}
		if err := dir.Remove(entry.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove leftover: %w", err)
		}
	}
	return nil
}
