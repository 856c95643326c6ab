package vfs_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/vfstest"
)

func openOS(t testing.TB, root string) vfs.FS {
	t.Helper()
	fsys, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

func TestOSConforms(t *testing.T) {
	vfstest.Run(t, func(t *testing.T) vfs.FS { return openOS(t, t.TempDir()) })
}
