package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/vfstest"
	"golang.org/x/sys/unix"
)

func openOS(t testing.TB, root string) vfs.FS {
	t.Helper()
	fsys, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	return fsys
}

func TestOSConforms(t *testing.T) {
	vfstest.Run(t, func(t *testing.T) vfs.FS {
		fsys, err := vfs.OS(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	})
}

// KAAS_TEST_DIR names a directory on the file system in question, for example an NFS mount.
func TestTestDirConforms(t *testing.T) {
	parent := os.Getenv("KAAS_TEST_DIR")
	if parent == "" {
		t.Skip("set KAAS_TEST_DIR to a directory on the file system to test")
	}
	vfstest.Run(t, func(t *testing.T) vfs.FS {
		root, err := os.MkdirTemp(parent, "kaas-test-*") //nolint:usetesting // on that file system
		must(t, err)
		t.Cleanup(func() { must(t, os.RemoveAll(root)) })
		fsys, err := vfs.OS(root)
		must(t, err)
		return fsys
	})
}

func TestOSRoot(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(root+"/real", 0o700))
	must(t, os.WriteFile(root+"/real/f", []byte("x"), 0o600))
	must(t, os.Symlink("real", root+"/link"))
	if _, err := vfs.OS(root + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing root: %v", err)
	}
	if _, err := vfs.OS(root + "/real/f"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("file as root: %v", err)
	}
	fsys := openOS(t, root+"/link")
	if got := read(t, openDir(t, fsys, "."), "f"); got != "x" {
		t.Errorf("through a linked root: %q", got)
	}
	must(t, fsys.Close())
	if _, err := fsys.OpenDir("."); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestOSFollowsNoLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(outside+"/secret", []byte("s"), 0o600))
	must(t, os.Symlink(outside, root+"/dir"))
	must(t, os.Symlink(outside+"/secret", root+"/file"))
	must(t, os.Symlink(outside+"/new", root+"/dangling"))
	fsys := openOS(t, root)
	dir := openDir(t, fsys, ".")
	for name, call := range map[string]func() error{
		"OpenDir of FS":     func() error { _, err := fsys.OpenDir("dir"); return err },
		"MkdirAll":          func() error { return fsys.MkdirAll("dir/sub") },
		"OpenDir":           func() error { _, err := dir.OpenDir("dir"); return err },
		"Hold":              func() error { _, err := dir.Hold("dir"); return err },
		"Open":              func() error { _, err := dir.Open("file"); return err },
		"OpenWrite":         func() error { _, err := dir.OpenWrite("file"); return err },
		"Create":            func() error { _, err := dir.Create("dangling"); return err },
		"ReadFile":          func() error { _, err := vfs.ReadFile(dir, "file", 10); return err },
		"Mkdir on dangling": func() error { return dir.Mkdir("dangling") },
	} {
		if err := call(); err == nil {
			t.Errorf("%s followed a link", name)
		}
	}
	entry, err := dir.Stat("dir")
	must(t, err)
	if entry.IsDir {
		t.Error("a link is reported as a directory")
	}
	if names, _ := filepath.Glob(outside + "/*"); len(names) != 1 {
		t.Errorf("outside: %v", names)
	}
}

func TestOSModesAndDescriptors(t *testing.T) {
	root := t.TempDir()
	dir := openDir(t, openOS(t, root), ".")
	must(t, dir.Mkdir("d"))
	file, err := dir.Create("f")
	must(t, err)
	defer file.Close()
	for name, most := range map[string]fs.FileMode{"d": 0o750, "f": 0o640} {
		info, err := os.Stat(root + "/" + name)
		must(t, err)
		if info.Mode().Perm()&^most != 0 || info.Mode().Perm()&0o600 != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	flags, err := unix.FcntlInt(file.OSFile().Fd(), unix.F_GETFD, 0)
	must(t, err)
	if flags&unix.FD_CLOEXEC == 0 {
		t.Error("the descriptor would be inherited")
	}
}

// Reserved blocks change nothing that a reader could see.
func TestOSPreallocate(t *testing.T) {
	root := t.TempDir()
	file, err := openDir(t, openOS(t, root), ".").Create("f")
	must(t, err)
	defer file.Close()
	_, err = file.WriteAt([]byte("abc"), 0)
	must(t, err)
	err = file.(vfs.Preallocator).Preallocate(3, 8<<20)
	if errors.Is(err, vfs.ErrNoPreallocation) {
		t.Skip(err)
	}
	must(t, err)
	var stat unix.Stat_t
	must(t, unix.Stat(root+"/f", &stat))
	if stat.Size != 3 || stat.Blocks*512 < 8<<20 {
		t.Errorf("size %d, %d bytes of blocks", stat.Size, stat.Blocks*512)
	}
	_, err = file.WriteAt([]byte("def"), 3)
	must(t, err)
	if got, err := os.ReadFile(root + "/f"); string(got) != "abcdef" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A file that is made longer holds zeros in blocks of their own, and ends where it is told to.
func TestOSExtend(t *testing.T) {
	root := t.TempDir()
	file, err := openDir(t, openOS(t, root), ".").Create("f")
	must(t, err)
	defer file.Close()
	_, err = file.WriteAt([]byte("abc"), 0)
	must(t, err)
	extender := file.(vfs.Extender)
	const size = 100_000
	err = extender.Extend(3, size)
	if errors.Is(err, vfs.ErrNoPreallocation) {
		t.Skip(err)
	}
	must(t, err)
	must(t, file.Sync())
	var stat unix.Stat_t
	must(t, unix.Stat(root+"/f", &stat))
	if stat.Size != size+3 || stat.Blocks*512 < size {
		t.Errorf("size %d, %d bytes of blocks", stat.Size, stat.Blocks*512)
	}
	_, err = file.WriteAt([]byte("def"), 3)
	must(t, err)
	if got, err := os.ReadFile(root + "/f"); string(got) != "abcdef"+strings.Repeat("\x00", size-3) || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, extender.Truncate(6))
	if got, err := os.ReadFile(root + "/f"); string(got) != "abcdef" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A commit is a write, a sync and a check: what they allocate is garbage at the rate of commits.
func TestOSCommitAllocatesLittle(t *testing.T) {
	dir := openDir(t, openOS(t, t.TempDir()), ".")
	must(t, dir.Mkdir("claim"))
	claim, err := dir.Hold("claim")
	must(t, err)
	defer claim.Close()
	file, err := dir.Create("f")
	must(t, err)
	defer file.Close()
	buffers := [][]byte{[]byte("abc")}
	allocated := testing.AllocsPerRun(20, func() {
		_, err := file.WriteVec(buffers, 0)
		must(t, errors.Join(err, file.Sync(), claim.Check()))
	})
	if allocated > 3 {
		t.Errorf("%v allocations", allocated)
	}
}

// An opened directory is meant, not its path: what comes to lie at the path is not touched.
func TestOSHandleIsNotRedirected(t *testing.T) {
	root := t.TempDir()
	fsys := openOS(t, root)
	must(t, fsys.MkdirAll("topic/old"))
	dir := openDir(t, fsys, "topic/old")
	must(t, os.Rename(root+"/topic", root+"/moved"))
	must(t, os.MkdirAll(root+"/topic/old", 0o700))
	must(t, vfs.WriteFileAtomic(dir, "f", []byte("x")))
	if _, err := os.Stat(root + "/moved/old/f"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(root + "/topic/old/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("redirected: %v", err)
	}
}
