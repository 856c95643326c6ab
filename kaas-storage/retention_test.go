package storage_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

func TestIdleFilesAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		b.config.SegmentBytes = 1
		var open handleCount
		f.set(open.hook)
		p := b.take()
		for i := range 60 { // never idle: only the files of closed segments can go
			appendDurable(t, p, records(t, "a", 1, int64(i)))
			time.Sleep(time.Second)
		}
		if n := open.files.Load(); n > 6 {
			t.Errorf("%d files open in a busy log of 60 segments", n)
		}
		readAll(t, p, 0)
		time.Sleep(time.Minute)
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs != 0 || claims != 1 {
			t.Errorf("idle: %d files, %d directories, %d claims open", files, dirs, claims)
		}
		appendDurable(t, p, records(t, "a", 1, 1))
		section, err := p.Read(0, storage.ReadOptions{MaxBytes: 100})
		must(t, err)
		p.Abandon()
		<-p.Closed()
		if files := open.files.Load(); files != 1 {
			t.Errorf("%d files open beside a section", files)
		}
		section.Release()
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs != 0 || claims != 0 {
			t.Errorf("closed: %d files, %d directories, %d claims open", files, dirs, claims)
		}
	})
}

// The bubble fails the test if a goroutine outlives it.
func TestThousandPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(64 << 20)
		var open handleCount
		engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
		must(t, err)
		f.set(open.hook)
		var partitions []*storage.Partition
		for i := range 1000 {
			path := fmt.Sprint("t/", i)
			must(t, f.MkdirAll(path))
			dir, err := f.OpenDir(path)
			must(t, err)
			must(t, storage.InitPartition(dir, 0))
			p, err := engine.Take(context.Background(), dir, storage.TakeOptions{Label: path, Config: storage.DefaultConfig()})
			must(t, err)
			appendDurable(t, p, records(t, "a", 1, 1))
			partitions = append(partitions, p)
		}
		time.Sleep(time.Minute)
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs != 0 || claims != 1000 {
			t.Errorf("idle: %d files, %d directories, %d claims open", files, dirs, claims)
		}
		appendDurable(t, partitions[999], records(t, "b", 1, 1))
		must(t, engine.Close())
		synctest.Wait()
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs != 0 || claims != 0 {
			t.Errorf("closed: %d files, %d directories, %d claims open", files, dirs, claims)
		}
	})
}
