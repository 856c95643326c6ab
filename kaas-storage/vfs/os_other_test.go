//go:build !linux

package vfs_test

import (
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestOSUnsupported(t *testing.T) {
	if _, err := vfs.OS(t.TempDir()); !errors.Is(err, vfs.ErrUnsupported) {
		t.Fatal(err)
	}
}
