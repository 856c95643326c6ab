package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// recorder is a hook that remembers what it was told.
type recorder struct {
	mu  sync.Mutex
	ops []string
}

func (r *recorder) hook(op vfs.Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Temporary names are random.
	if strings.HasSuffix(op.Name, ".tmp") {
		op.Name = "TEMP"
	}
	r.ops = append(r.ops, op.String())
	return nil
}

func TestFaultDescribesOperations(t *testing.T) {
	var seen recorder
	fsys := vfs.NewFault(vfs.NewMem(0), seen.hook)
	must(t, fsys.MkdirAll("a"))
	dir, err := fsys.OpenDir("a")
	must(t, err)
	must(t, vfs.WriteFileAtomic(dir, "f", []byte("hello")))
	_, err = vfs.ReadFile(dir, "f", 9)
	must(t, err)
	must(t, dir.Close())
	want := []string{
		"open directory ./", "mkdir ./a", "sync directory ./", "open directory ./a", "close directory ./", "close directory a/",
		"open directory a/",
		"create a/TEMP", "write a/TEMP [0+5]", "sync a/TEMP", "close a/TEMP", "rename a/TEMP to f", "sync directory a/",
		"open a/f", "size a/f", "read a/f [0+5]", "close a/f",
		"close directory a/",
	}
	for i, op := range want {
		if 2*i+1 >= len(seen.ops) || seen.ops[2*i] != op || seen.ops[2*i+1] != op+" = <nil>" {
			t.Fatalf("operation %d is not %q around its call: %q", i, op, seen.ops)
		}
	}
	if len(seen.ops) != 2*len(want) {
		t.Fatalf("too many operations: %q", seen.ops[2*len(want):])
	}
}

func on(kind vfs.OpKind, after bool) func(vfs.Op) bool {
	return func(op vfs.Op) bool { return op.Kind == kind && op.After == after }
}

// faultCase is one operation and how to see whether it has happened.
type faultCase struct {
	kind     vfs.OpKind
	run      func(dir vfs.Dir) error
	happened func(dir vfs.Dir) bool
}

func exists(dir vfs.Dir, name string) bool {
	_, err := dir.Stat(name)
	return err == nil
}

func withFile(run func(vfs.File) error) func(vfs.Dir) error {
	return func(dir vfs.Dir) error {
		file, err := dir.OpenWrite("file")
		if err != nil {
			return err
		}
		defer file.Close()
		return run(file)
	}
}

func fileIs(content string) func(vfs.Dir) bool {
	return func(dir vfs.Dir) bool {
		got, _ := vfs.ReadFile(dir, "file", 100)
		return string(got) == content
	}
}

func changingCases() []faultCase {
	return []faultCase{
		{vfs.OpMkdir, func(d vfs.Dir) error { return d.Mkdir("new") }, func(d vfs.Dir) bool { return exists(d, "new") }},
		{vfs.OpRmdir, func(d vfs.Dir) error { return d.Rmdir("dir") }, func(d vfs.Dir) bool { return !exists(d, "dir") }},
		{vfs.OpRemove, func(d vfs.Dir) error { return d.Remove("file") }, func(d vfs.Dir) bool { return !exists(d, "file") }},
		{vfs.OpRename, func(d vfs.Dir) error { return d.Rename("file", "new") }, func(d vfs.Dir) bool { return exists(d, "new") }},
		{vfs.OpCreate, func(d vfs.Dir) error { _, err := d.Create("new"); return err }, func(d vfs.Dir) bool { return exists(d, "new") }},
		{vfs.OpWriteAt, withFile(func(f vfs.File) error { _, err := f.WriteAt([]byte("y"), 0); return err }), fileIs("y")},
		{vfs.OpWriteVec, withFile(func(f vfs.File) error { _, err := f.WriteVec([][]byte{[]byte("y")}, 0); return err }), fileIs("y")},
		{vfs.OpExtend, withFile(func(f vfs.File) error { return f.(vfs.Extender).Extend(1, 1) }), fileIs("x\x00")},
		{vfs.OpTruncate, withFile(func(f vfs.File) error { return f.(vfs.Extender).Truncate(0) }), fileIs("")},
	}
}

func faultScene(t *testing.T, hook vfs.Hook) (inner *vfs.Crash, dir vfs.Dir) {
	t.Helper()
	inner = vfs.NewCrash(0)
	plain := openDir(t, inner, ".")
	must(t, plain.Mkdir("dir"))
	must(t, create(t, plain, "file", "x").Close())
	return inner, openDir(t, vfs.NewFault(inner, hook), ".")
}

func TestFaultBeforeAndAfter(t *testing.T) {
	for _, test := range changingCases() {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(test.kind, " after ", after), func(t *testing.T) {
				inner, dir := faultScene(t, vfs.FailNth(1, on(test.kind, after), syscall.EIO))
				err := test.run(dir)
				var pathError *fs.PathError
				if !errors.Is(err, syscall.EIO) || !errors.As(err, &pathError) || pathError.Op != test.kind.String() {
					t.Fatalf("error is %v", err)
				}
				if got := test.happened(openDir(t, inner, ".")); got != after {
					t.Errorf("happened: %v", got)
				}
			})
		}
	}
}

func TestFaultOfReadingOperations(t *testing.T) {
	for kind, run := range map[vfs.OpKind]func(vfs.Dir) error{
		vfs.OpOpenDir:    func(d vfs.Dir) error { _, err := d.OpenDir("dir"); return err },
		vfs.OpOpen:       func(d vfs.Dir) error { _, err := d.Open("file"); return err },
		vfs.OpOpenWrite:  func(d vfs.Dir) error { _, err := d.OpenWrite("file"); return err },
		vfs.OpList:       func(d vfs.Dir) error { _, err := d.List(); return err },
		vfs.OpStat:       func(d vfs.Dir) error { _, err := d.Stat("file"); return err },
		vfs.OpSyncDir:    func(d vfs.Dir) error { return d.Sync() },
		vfs.OpHold:       func(d vfs.Dir) error { _, err := d.Hold("dir"); return err },
		vfs.OpCloseDir:   func(d vfs.Dir) error { return d.Close() },
		vfs.OpReadAt:     withFile(func(f vfs.File) error { _, err := f.ReadAt(make([]byte, 1), 0); return err }),
		vfs.OpSync:       withFile(func(f vfs.File) error { return f.Sync() }),
		vfs.OpSize:       withFile(func(f vfs.File) error { _, err := f.Size(); return err }),
		vfs.OpCloseFile:  withFile(func(f vfs.File) error { return f.Close() }),
		vfs.OpCheck:      withClaim(func(c vfs.Claim) error { return c.Check() }),
		vfs.OpParent:     withClaim(func(c vfs.Claim) error { _, err := c.Parent(); return err }),
		vfs.OpCloseClaim: withClaim(func(c vfs.Claim) error { return c.Close() }),
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, " after ", after), func(t *testing.T) {
				nth := 1
				if kind == vfs.OpOpenDir {
					nth = 2 // the root comes first
				}
				_, dir := faultScene(t, vfs.FailNth(nth, on(kind, after), syscall.EIO))
				if err := run(dir); !errors.Is(err, syscall.EIO) {
					t.Fatalf("error is %v", err)
				}
			})
		}
	}
	t.Run("usage", func(t *testing.T) {
		fsys := vfs.NewFault(vfs.NewMem(0), vfs.FailNth(1, nil, syscall.EIO))
		if _, err := fsys.Usage(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
	})
}

func withClaim(run func(vfs.Claim) error) func(vfs.Dir) error {
	return func(dir vfs.Dir) error {
		claim, err := dir.Hold("dir")
		if err != nil {
			return err
		}
		return run(claim)
	}
}

// A handle that is left open would keep the removed file's bytes.
func TestFaultLeavesNoHandleBehind(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpOpen, vfs.OpCloseFile} {
		for _, after := range []bool{false, true} {
			inner := vfs.NewMem(1 << 20)
			plain := openDir(t, inner, ".")
			must(t, create(t, plain, "f", "content").Close())
			dir := openDir(t, vfs.NewFault(inner, vfs.FailNth(1, on(kind, after), syscall.EIO)), ".")
			if file, err := dir.Open("f"); err == nil {
				_ = file.Close()
			}
			must(t, plain.Remove("f"))
			if got := used(t, inner); got != 0 {
				t.Errorf("%v after %v: %d bytes are used", kind, after, got)
			}
		}
	}
}

func TestFaultShortWrite(t *testing.T) {
	write := map[string]func(f vfs.File) (int64, error){
		"WriteAt":  func(f vfs.File) (int64, error) { n, err := f.WriteAt([]byte("abcdef"), 0); return int64(n), err },
		"WriteVec": func(f vfs.File) (int64, error) { return f.WriteVec([][]byte{[]byte("ab"), []byte("cdef")}, 0) },
	}
	for name, call := range write {
		for n, want := range map[int64]string{0: "", 1: "a", 3: "abc", 99: "abcdef", -1: ""} {
			for _, cause := range []error{nil, syscall.ENOSPC} {
				t.Run(fmt.Sprint(name, n, cause), func(t *testing.T) {
					inner := vfs.NewMem(0)
					hook := func(op vfs.Op) error {
						if (op.Kind == vfs.OpWriteAt || op.Kind == vfs.OpWriteVec) && !op.After {
							return vfs.ErrShortWrite{N: n, Err: cause}
						}
						return nil
					}
					file, err := openDir(t, vfs.NewFault(inner, hook), ".").Create("f")
					must(t, err)
					written, err := call(file)
					target := cause
					if cause == nil {
						target = io.ErrShortWrite
					}
					if written != int64(len(want)) || !errors.Is(err, target) {
						t.Errorf("%d, %v", written, err)
					}
					if got := read(t, openDir(t, inner, "."), "f"); got != want {
						t.Errorf("holds %q", got)
					}
				})
			}
		}
	}
}

func TestFailNth(t *testing.T) {
	hook := vfs.FailNth(3, on(vfs.OpMkdir, false), syscall.EIO)
	_, dir := faultScene(t, hook)
	var failed []int
	for i := range 5 {
		_, _ = dir.List()
		if dir.Mkdir(fmt.Sprint(i)) != nil {
			failed = append(failed, i)
		}
	}
	if !slices.Equal(failed, []int{2}) {
		t.Errorf("failed: %v", failed)
	}
}

func TestFaultBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, dir := faultScene(t, func(op vfs.Op) error {
			if op.Kind == vfs.OpSyncDir && !op.After {
				<-release
			}
			return nil
		})
		done := make(chan error, 1)
		go func() { done <- dir.Sync() }()
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("the sync did not hang")
		}
		must(t, dir.Mkdir("other operations go on"))
		close(release)
		must(t, <-done)
	})
}

// Each failed step leaves the old content and no temporary file.
func TestWriteFileAtomicFailing(t *testing.T) {
	kinds := []vfs.OpKind{vfs.OpCreate, vfs.OpWriteAt, vfs.OpSync, vfs.OpCloseFile, vfs.OpRename}
	for _, kind := range kinds {
		t.Run(kind.String(), func(t *testing.T) {
			inner, dir := faultScene(t, vfs.FailNth(1, on(kind, false), syscall.EIO))
			if err := vfs.WriteFileAtomic(dir, "file", []byte("new")); !errors.Is(err, syscall.EIO) {
				t.Fatalf("error is %v", err)
			}
			plain := openDir(t, inner, ".")
			entries, err := plain.List()
			must(t, err)
			if len(entries) != 2 || read(t, plain, "file") != "x" {
				t.Errorf("left behind: %v", entries)
			}
		})
	}
	t.Run("rename reports late", func(t *testing.T) {
		inner, dir := faultScene(t, vfs.FailNth(1, on(vfs.OpRename, true), syscall.EIO))
		err := vfs.WriteFileAtomic(dir, "file", []byte("new"))
		if !errors.Is(err, syscall.EIO) || errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("error is %v", err)
		}
		if got := read(t, openDir(t, inner, "."), "file"); got != "new" {
			t.Errorf("holds %q", got)
		}
	})
	t.Run("directory sync", func(t *testing.T) {
		_, dir := faultScene(t, vfs.FailNth(1, on(vfs.OpSyncDir, false), syscall.EIO))
		if err := vfs.WriteFileAtomic(dir, "file", []byte("new")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestFaultHasNoDescriptor(t *testing.T) {
	_, dir := faultScene(t, nil)
	file, err := dir.Open("file")
	must(t, err)
	defer file.Close()
	if file.OSFile() != nil || path.Base(file.Name()) != "file" {
		t.Error("reads could get past the hook")
	}
}
