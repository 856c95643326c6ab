package vfs_test

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func ExampleWriteFileAtomic() {
	fsys := vfs.NewMem(1 << 20)
	dir, err := fsys.OpenDir(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dir.Close()
	if err := vfs.WriteFileAtomic(dir, "manifest", []byte("version 1")); err != nil {
		fmt.Println(err)
		return
	}
	data, err := vfs.ReadFile(dir, "manifest", 1024)
	fmt.Printf("%s %v\n", data, err)
	// Output: version 1 <nil>
}

func ExampleClaim() {
	fsys := vfs.NewMem(1 << 20)
	dir, _ := fsys.OpenDir(".")
	defer dir.Close()
	_ = dir.Mkdir("leader.00000001")
	claim, _ := dir.Hold("leader.00000001")
	defer claim.Close()
	fmt.Println(claim.Check())
	_ = dir.Rmdir("leader.00000001")
	fmt.Println(errors.Is(claim.Check(), vfs.ErrUnlinked))
	// Output:
	// <nil>
	// true
}

func ExampleFailNth() {
	firstSync := func(op vfs.Op) bool { return op.Kind == vfs.OpSyncDir && !op.After }
	fsys := vfs.NewFault(vfs.NewMem(1<<20), vfs.FailNth(1, firstSync, syscall.EIO))
	dir, _ := fsys.OpenDir(".")
	defer dir.Close()
	fmt.Println(dir.Sync())
	fmt.Println(dir.Sync())
	// Output:
	// sync directory .: input/output error
	// <nil>
}

func ExampleCrash_PowerCut() {
	fsys := vfs.NewCrash(1 << 20)
	dir, _ := fsys.OpenDir(".")
	defer dir.Close()
	_ = dir.Mkdir("kept")
	_ = dir.Sync()
	_ = dir.Mkdir("lost")
	after, _ := fsys.PowerCut(vfs.SurviveNone).OpenDir(".")
	defer after.Close()
	fmt.Println(after.List())
	// Output: [{kept true 0 0001-01-01 00:00:00 +0000 UTC}] <nil>
}
