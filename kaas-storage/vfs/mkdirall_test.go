package vfs_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Each level is durable when MkdirAll returns, also one that somebody else had
// made without syncing it.
func TestMkdirAllIsDurable(t *testing.T) {
	crash := vfs.NewCrash(0)
	must(t, openDir(t, crash, ".").Mkdir("a"))
	must(t, crash.MkdirAll("a/b/c"))
	if got := after(t, crash, vfs.SurviveNone); got != "a/ a/b/ a/b/c/" {
		t.Errorf("left is %q", got)
	}
}

func TestMkdirAllFailing(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpOpenDir, vfs.OpMkdir, vfs.OpSyncDir, vfs.OpCloseDir} {
		for n := 1; n <= 2; n++ {
			fsys := vfs.NewFault(vfs.NewMem(0), vfs.FailNth(n, on(kind, false), syscall.EIO))
			if err := fsys.MkdirAll("a/b"); !errors.Is(err, syscall.EIO) {
				t.Errorf("%v number %d: %v", kind, n, err)
			}
			must(t, fsys.MkdirAll("a/b"))
		}
	}
}
