package storage_test

import (
	"os"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestConformsOnDisk(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) vfs.FS {
		disk, err := vfs.OS(t.TempDir())
		must(t, err)
		return disk
	})
}

// KAAS_TEST_DIR names a directory on the file system in question, for example an NFS mount.
func TestConformsInTestDir(t *testing.T) {
	parent := os.Getenv("KAAS_TEST_DIR")
	if parent == "" {
		t.Skip("set KAAS_TEST_DIR to a directory on the file system to test")
	}
	storagetest.Run(t, func(t *testing.T) vfs.FS {
		root, err := os.MkdirTemp(parent, "kaas-test-*") //nolint:usetesting // on that file system
		must(t, err)
		t.Cleanup(func() { must(t, os.RemoveAll(root)) })
		disk, err := vfs.OS(root)
		must(t, err)
		return disk
	})
}
