package vfs_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/vfstest"
)

func TestMemConforms(t *testing.T) {
	vfstest.Run(t, func(*testing.T) vfs.FS { return vfs.NewMem(64 << 20) })
}

func TestCrashConforms(t *testing.T) {
	vfstest.Run(t, func(*testing.T) vfs.FS { return vfs.NewCrash(64 << 20) })
}

func TestFaultConforms(t *testing.T) {
	vfstest.Run(t, func(*testing.T) vfs.FS { return vfs.NewFault(vfs.NewMem(64<<20), nil) })
}
