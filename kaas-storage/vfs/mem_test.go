package vfs_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestMemFull(t *testing.T) {
	fsys := vfs.NewMem(1 << 20)
	dir := openDir(t, fsys, ".")
	file := create(t, dir, "f", "")
	data := make([]byte, 2<<20)
	n, err := file.WriteAt(data, 0)
	if !errors.Is(err, syscall.ENOSPC) || n < 256<<10 || n >= 1<<20 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if size, _ := file.Size(); size != int64(n) {
		t.Errorf("size is %d after %d bytes", size, n)
	}
	written, err := file.WriteVec([][]byte{data[:10], data}, int64(n)-10)
	if !errors.Is(err, syscall.ENOSPC) || written != 10 {
		t.Errorf("vector: %d bytes, %v", written, err)
	}
	if _, err := file.WriteAt(data[:n], 0); err != nil {
		t.Errorf("overwriting needs space: %v", err)
	}
	must(t, file.Close())
	must(t, dir.Remove("f"))
	if got := used(t, fsys); got != 0 {
		t.Errorf("%d bytes are still used", got)
	}
	create(t, dir, "g", string(data[:n]))
}

func TestMemFullOfNames(t *testing.T) {
	dir := openDir(t, vfs.NewMem(4<<10), ".")
	var err error
	made := 0
	for ; err == nil && made < 100; made++ {
		err = dir.Mkdir(string([]byte{'a' + byte(made/10), 'a' + byte(made%10)}))
	}
	if !errors.Is(err, syscall.ENOSPC) || made < 5 {
		t.Fatalf("%d names, %v", made, err)
	}
	must(t, dir.Rmdir("aa"))
	must(t, dir.Mkdir("zz"))
}

func TestMemFreesWithLastHandle(t *testing.T) {
	for name, remove := range map[string]func(vfs.Dir) error{
		"removed": func(dir vfs.Dir) error { return dir.Remove("f") },
		"replaced": func(dir vfs.Dir) error {
			return errors.Join(dir.Mkdir("keep"), vfs.WriteFileAtomic(dir, "f", nil), dir.Remove("f"), dir.Rmdir("keep"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfs.NewMem(8 << 20)
			dir := openDir(t, fsys, ".")
			file := create(t, dir, "f", string(make([]byte, 3<<20)))
			reader, err := dir.Open("f")
			must(t, err)
			must(t, remove(dir))
			must(t, file.Close())
			if got := used(t, fsys); got < 3<<20 {
				t.Errorf("%d bytes used while a handle is open", got)
			}
			must(t, reader.Close())
			if got := used(t, fsys); got != 0 {
				t.Errorf("%d bytes used after the last close", got)
			}
		})
	}
}

// A large file costs what it holds, and little more: bytes are stored once.
func TestMemCost(t *testing.T) {
	for name, test := range map[string]struct{ size, most int64 }{
		"small":   {100, 8 << 10},
		"segment": {16 << 20, 16<<20 + 4<<10},
		"odd":     {5<<20 + 1, 6<<20 + 4<<10},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfs.NewMem(32 << 20)
			file := create(t, openDir(t, fsys, "."), "f", "")
			piece := make([]byte, 10_007)
			for off := int64(0); off < test.size; off += int64(len(piece)) {
				_, err := file.WriteAt(piece[:min(int64(len(piece)), test.size-off)], off)
				must(t, err)
			}
			if got := used(t, fsys); got < test.size || got > test.most {
				t.Errorf("%d bytes cost %d", test.size, got)
			}
		})
	}
}

func TestMemSparse(t *testing.T) {
	fsys := vfs.NewMem(8 << 20)
	file := create(t, openDir(t, fsys, "."), "f", "")
	if _, err := file.WriteAt([]byte("x"), 1<<30); err != nil {
		t.Fatal(err)
	}
	if got := used(t, fsys); got > 2<<20 {
		t.Errorf("a gap costs %d bytes", got)
	}
	if _, err := file.WriteAt([]byte("x"), 1<<60); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a huge offset: %v", err)
	}
}

func TestMemOutlivesClose(t *testing.T) {
	fsys := vfs.NewMem(0)
	must(t, vfs.WriteFileAtomic(openDir(t, fsys, "."), "f", []byte("x")))
	must(t, fsys.Close())
	if got := read(t, openDir(t, fsys, "."), "f"); got != "x" {
		t.Errorf("holds %q", got)
	}
}

// All handles at once: run it with -race. At the end nothing is used.
func TestMemConcurrent(t *testing.T) {
	fsys := vfs.NewMem(64 << 20)
	var group sync.WaitGroup
	for worker := range uint64(6) {
		group.Go(func() {
			random := rand.New(rand.NewPCG(worker, 2))
			dir, err := fsys.OpenDir(".")
			if err != nil {
				t.Error(err)
				return
			}
			defer dir.Close()
			for range 300 {
				churn(dir, random)
			}
		})
	}
	group.Wait()
	dir := openDir(t, fsys, ".")
	for _, name := range churnNames {
		_ = dir.Remove(name)
		_ = dir.Rmdir(name)
	}
	if got := used(t, fsys); got != 0 {
		t.Errorf("%d bytes are used at the end", got)
	}
}

var churnNames = []string{"a", "b", "c"}

// churn does something whose result depends on the others; only races and leaks are looked for.
func churn(dir vfs.Dir, random *rand.Rand) {
	name, other := churnNames[random.IntN(3)], churnNames[random.IntN(3)]
	switch random.IntN(8) {
	case 0:
		_ = dir.Mkdir(name)
	case 1:
		_ = dir.Rmdir(name)
	case 2:
		_ = dir.Remove(name)
	case 3:
		_ = dir.Rename(name, other)
	case 4:
		if claim, err := dir.Hold(name); err == nil {
			_ = claim.Check()
			_ = claim.Close()
		}
	case 5:
		_, _ = dir.List()
		_, _ = dir.Stat(name)
	case 6:
		if file, err := dir.Create(name); err == nil {
			_, _ = file.WriteVec([][]byte{make([]byte, random.IntN(20_000))}, int64(random.IntN(20_000)))
			_ = file.Close()
		}
	default:
		if file, err := dir.OpenWrite(name); err == nil {
			_, _ = file.WriteAt(make([]byte, 100), int64(random.IntN(20_000)))
			_, _ = file.ReadAt(make([]byte, 5_000), int64(random.IntN(20_000)))
			_ = file.Sync()
			_ = file.Close()
		}
	}
}
