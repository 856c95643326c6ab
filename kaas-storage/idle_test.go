package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Whoever lost a partition while it was idle learns it from the first file that is to be opened, as from a fence check.
func TestIdleOwnerIsFencedWhenItOpensAFile(t *testing.T) {
	for name, use := range map[string]func(p *storage.Partition) error{
		"read": func(p *storage.Partition) error {
			_, err := p.Read(0, storage.ReadOptions{MaxBytes: 100})
			return err
		},
		"append": func(p *storage.Partition) error {
			ticket, err := p.Append(records(t, "a", 1, 1), storage.AppendOptions{})
			if err != nil {
				return err
			}
			return ticket.WaitDurable(context.Background())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1})
				var ended atomic.Pointer[error]
				old := b.takeWith(&ended)
				appendDurable(t, old, records(t, "a", 1, 1))
				time.Sleep(time.Minute)
				next := b.take()
				if err := use(old); !errors.Is(err, storage.ErrFenced) {
					t.Errorf("%s: %v, want %v", name, err, storage.ErrFenced)
				}
				if reason := ended.Load(); reason == nil || !errors.Is(*reason, storage.ErrFenced) {
					t.Errorf("the leadership has not ended by a fence: %v", old.Err())
				}
				appendDurable(t, next, records(t, "b", 1, 1))
			})
		})
	}
}

// An idle partition finds its directory by its claim: another directory that has got its name meanwhile gets nothing of it.
func TestIdlePartitionFollowsItsDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1})
		p := b.take()
		appendDurable(t, p, records(t, "a", 1, 1))
		time.Sleep(time.Minute)
		root, err := b.fs.OpenDir(".")
		must(t, err)
		defer root.Close()
		must(t, root.Rename("p", "moved"))
		must(t, root.Mkdir("p"))
		_, err = p.DeleteRecords(context.Background(), -1)
		must(t, err)
		appendDurable(t, p, records(t, "b", 1, 1))
		if names := b.names(); len(names) != 0 {
			t.Errorf("%v in the directory that took the name", names)
		}
		readAll(t, p, 1)
	})
}

// Takeovers that come faster than the garbage of earlier owners goes do not keep their directories open for it.
func TestTakeoversCloseTheirDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const partitions = 20
		f := newFaulty(16 << 20)
		var open handleCount
		var most atomic.Int64
		f.set(func(op vfs.Op) error {
			switch op.Kind {
			case vfs.OpRemove:
				most.Store(max(most.Load(), open.dirs.Load()))
			case vfs.OpHold:
				time.Sleep(time.Second) // meanwhile all the others come to wait for the slot
			}
			return open.hook(op)
		})
		engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
		must(t, err)
		volume, err := storage.OpenVolume(f, storage.VolumeOptions{ClusterID: "c", ID: "v", Slots: 1})
		must(t, err)
		var takers sync.WaitGroup
		for i := range partitions {
			path := fmt.Sprint("p", i)
			must(t, f.MkdirAll(path))
			dir, err := f.OpenDir(path)
			must(t, err)
			must(t, storage.InitPartition(dir, 0))
			takers.Go(func() {
				_, err := engine.Take(context.Background(), dir, storage.TakeOptions{Label: path, Volume: volume, Config: storage.DefaultConfig()})
				if err != nil {
					t.Error(err)
				}
			})
		}
		takers.Wait()
		synctest.Wait()
		if n := most.Load(); n != 1 {
			t.Errorf("%d directories are open while one slot is free to remove a file, of %d partitions", n, partitions)
		}
		must(t, engine.Close())
	})
}

// The files of any number of segments go at once. Whoever commits meanwhile does not wait for a slot of the volume behind them.
func TestRemovalsLeaveSlotsToCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		b.config.SegmentBytes = 1
		p := b.take()
		const segments = 200
		for i := range segments {
			appendDurable(t, p, stamped(t, int64(i)))
		}
		synctest.Wait() // what the takeover left has gone
		release := make(chan struct{})
		var removing, removed atomic.Int32
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpRemove && !op.After {
				removing.Add(1)
				<-release
				removed.Add(1)
			}
			return nil
		})
		_, err := p.DeleteRecords(t.Context(), segments)
		must(t, err)
		synctest.Wait()
		if now := removing.Load(); now != 1 {
			t.Errorf("%d files are being removed at a time", now)
		}
		appendDurable(t, p, stamped(t, 1000))
		close(release)
		synctest.Wait()
		if all := removed.Load(); all < segments {
			t.Errorf("%d files were removed of %d segments", all, segments)
		}
	})
}
