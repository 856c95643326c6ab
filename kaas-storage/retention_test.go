package storage_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// pass lets one retention pass run.
func pass() {
	time.Sleep(time.Minute + time.Second)
	synctest.Wait()
}

func TestRetention(t *testing.T) {
	const size = 71 // of a batch with the one record "a-0"
	day := 24 * time.Hour
	cases := []struct {
		name   string
		config func(c *storage.Config)
		ages   []time.Duration // of the records at the pass; each is a batch and a segment of its own
		start  int64
	}{
		{"young", nil, []time.Duration{day, 2 * day, 0}, 0},
		{"old ones first", nil, []time.Duration{9 * day, 8 * day, day, 0}, 2},
		{"an old one behind a young one stays", nil, []time.Duration{9 * day, day, 8 * day, 0}, 1},
		{"the active segment too", nil, []time.Duration{9 * day, 8 * day}, 2},
		{"in the future", nil, []time.Duration{-day, 9 * day}, 0},
		{"by age off", func(c *storage.Config) { c.RetentionAge = -1 }, []time.Duration{1000 * day, day}, 0},
		{"by size", func(c *storage.Config) { c.RetentionBytes = 2 * size }, []time.Duration{4, 3, 2, 1, 0}, 3},
		{"by size, just over", func(c *storage.Config) { c.RetentionBytes = 2*size + 1 }, []time.Duration{4, 3, 2, 1, 0}, 2},
		{"nothing at all", func(c *storage.Config) { c.RetentionBytes = 0 }, []time.Duration{0, 0}, 2},
		{"policy without delete", func(c *storage.Config) { c.Delete, c.RetentionBytes = false, 0 }, []time.Duration{9 * day, 0}, 0},
	}
	for _, c := range cases {
		for _, reopen := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reopened %t", c.name, reopen), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: time.Minute})
					b.config.SegmentBytes = 1
					if c.config != nil {
						c.config(&b.config)
					}
					p := b.take()
					for _, age := range c.ages {
						if r := appendDurable(t, p, records(t, "a", 1, time.Now().Add(-age).UnixMilli())); r.BaseOffset == 0 && p.Size() != size {
							t.Fatalf("a batch has %d bytes", p.Size())
						}
					}
					if reopen {
						must(t, p.Handover(context.Background()))
						p = b.take()
					}
					pass()
					if got := p.Offsets().LogStart; got != c.start {
						t.Fatalf("log start %d, want %d", got, c.start)
					}
					if got := len(readAll(t, p, c.start)); got != len(c.ages)-int(c.start) {
						t.Fatalf("%d records left", got)
					}
					if files := len(b.logs()); files != len(c.ages)-int(c.start) {
						t.Fatalf("%d log files left: %v", files, b.logs())
					}
					if r := appendDurable(t, p, records(t, "a", 1, time.Now().UnixMilli())); r.BaseOffset != int64(len(c.ages)) {
						t.Fatalf("next offset %d", r.BaseOffset)
					}
				})
			})
		}
	}
}

func TestConfigurationChangesWhileOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: time.Minute})
		p := b.take()
		change := func(f func(c *storage.Config)) {
			c := p.Config()
			f(&c)
			p.SetConfig(c)
		}
		write := func() storage.AppendResult { return appendDurable(t, p, records(t, "a", 1, time.Now().UnixMilli())) }
		write()
		write()
		if n := len(b.logs()); n != 1 {
			t.Fatalf("%d segments", n)
		}
		change(func(c *storage.Config) { c.SegmentBytes = 1 })
		write()
		if n := len(b.logs()); n != 2 {
			t.Fatalf("%d segments after a smaller size", n)
		}
		change(func(c *storage.Config) { c.SegmentBytes, c.SegmentAge = 1<<20, time.Hour })
		write()
		time.Sleep(time.Hour)
		if write(); len(b.logs()) != 3 {
			t.Fatalf("segments %v: none is rolled after an hour", b.logs())
		}
		change(func(c *storage.Config) { c.AppendTime = true })
		if r := write(); r.AppendTime != time.Now().UnixMilli() {
			t.Fatalf("append time %d", r.AppendTime)
		}
		change(func(c *storage.Config) { c.RetentionBytes = 0 })
		pass()
		if o := p.Offsets(); o.LogStart != 6 || o.LogEnd != 6 {
			t.Fatalf("offsets %+v", o)
		}
	})
}

func TestProducersExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
		p := b.take()
		appendDurable(t, p, sequenced(t, 1, 0, 0, 1))
		time.Sleep(23 * time.Hour)
		appendDurable(t, p, sequenced(t, 2, 0, 0, 1))
		time.Sleep(2 * time.Hour)
		appendDurable(t, p, records(t, "a", 1, 1))
		time.Sleep(time.Minute) // the next recovery point leaves out who has been silent for a day
		if states := p.Producers(); len(states) != 1 || states[0].ID != 2 {
			t.Fatalf("producers %+v", states)
		}
	})
}

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
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs != 1 || claims != 1 {
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
		if files, dirs, claims := open.files.Load(), open.dirs.Load(), open.claims.Load(); files != 0 || dirs > 1000 || claims != 1000 {
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
