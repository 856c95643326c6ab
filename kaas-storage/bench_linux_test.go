package storage_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func diskFileSystems() []benchmarked {
	return []benchmarked{{"disk", func(b *testing.B) vfs.FS {
		disk, err := vfs.OS(b.TempDir())
		must(b, err)
		b.Cleanup(func() { _ = disk.Close() })
		return disk
	}}}
}
