package storage_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// An idle partition costs one descriptor, and a start does not need more than that for longer than a takeover takes.
func TestIdlePartitionsHoldOneDescriptorEach(t *testing.T) {
	const partitions = 1000
	synctest.Test(t, func(t *testing.T) {
		disk, err := vfs.OS(t.TempDir())
		must(t, err)
		defer disk.Close()
		before := descriptors(t)
		for start := range 2 {
			engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
			must(t, err)
			var last *storage.Partition
			for i := range partitions {
				last = takeNumbered(t, engine, disk, i)
			}
			synctest.Wait()
			if held := descriptors(t) - before; held != partitions {
				t.Errorf("start %d: %d partitions hold %d descriptors right after the takeovers", start, partitions, held)
			}
			for i := range 10 {
				appendDurable(t, last, records(t, "a", 1, int64(10*start+i)))
			}
			time.Sleep(time.Minute)
			if held := descriptors(t) - before; held != partitions {
				t.Errorf("start %d: %d idle partitions hold %d descriptors", start, partitions, held)
			}
			must(t, engine.Close())
			if held := descriptors(t) - before; held != 0 {
				t.Errorf("start %d: %d descriptors are held after the end", start, held)
			}
		}
	})
}

func takeNumbered(t *testing.T, engine *storage.Engine, disk vfs.FS, number int) *storage.Partition {
	t.Helper()
	path := fmt.Sprint("p", number)
	must(t, disk.MkdirAll(path))
	dir, err := disk.OpenDir(path)
	must(t, err)
	must(t, storage.InitPartition(dir, 0))
	p, err := engine.Take(context.Background(), dir, storage.TakeOptions{Label: path, Config: storage.DefaultConfig()})
	must(t, err)
	return p
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}
