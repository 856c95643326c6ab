package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// faulty is a memory file system whose hook can be changed while it is in use.
type faulty struct {
	*vfs.Fault
	hook atomic.Pointer[vfs.Hook]
}

func newFaulty(budget int64) *faulty {
	f := &faulty{}
	f.Fault = vfs.NewFault(vfs.NewMem(budget), func(op vfs.Op) error {
		if hook := f.hook.Load(); hook != nil {
			return (*hook)(op)
		}
		return nil
	})
	return f
}

func (f *faulty) set(h vfs.Hook) { f.hook.Store(&h) }
func (f *faulty) clear()         { f.hook.Store(nil) }

// failing returns a hook that fails every operation of a kind before it happens.
func failing(kind vfs.OpKind, err error) vfs.Hook {
	return func(op vfs.Op) error {
		if op.Kind == kind && !op.After {
			return err
		}
		return nil
	}
}

func TestAnErrorEndsTheEpoch(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpWriteVec, vfs.OpSync, vfs.OpCheck, vfs.OpSyncDir, vfs.OpCreate} {
		t.Run(kind.String(), func(t *testing.T) {
			f := newFaulty(16 << 20)
			b := newBench(t, f, storage.Options{})
			p := b.take()
			if kind != vfs.OpSyncDir && kind != vfs.OpCreate {
				appendDurable(t, p, records(t, "a", 2, 1000))
			}
			before := p.Offsets().HighWatermark
			f.set(failing(kind, syscall.EIO))
			ticket, err := p.Append(records(t, "lost", 1, 2000), storage.AppendOptions{})
			must(t, err)
			if err := ticket.WaitDurable(context.Background()); !errors.Is(err, syscall.EIO) {
				t.Fatalf("wait: %v", err)
			}
			f.clear()
			if _, err := p.Append(records(t, "late", 1, 2000), storage.AppendOptions{}); !errors.Is(err, syscall.EIO) {
				t.Fatalf("append after the end of the epoch: %v", err)
			}
			if got := p.Offsets().HighWatermark; got != before {
				t.Fatalf("watermark moved from %d to %d", before, got)
			}
			if got := len(readAll(t, p, 0)); got != int(before) {
				t.Fatalf("%d records can be read below the watermark %d", got, before)
			}
			next := b.take()
			appendDurable(t, next, records(t, "b", 1, 3000))
			got := readAll(t, next, 0)
			if len(got) < int(before)+1 || got[len(got)-1] != "b-0" {
				t.Fatalf("read %v", got)
			}
		})
	}
}

func TestAHungSyncStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		p := b.take()
		release := make(chan struct{})
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpSync && !op.After {
				<-release
			}
			return nil
		})
		began := time.Now()
		ticket, err := p.Append(records(t, "a", 1, 1000), storage.AppendOptions{})
		must(t, err)
		if err := ticket.WaitDurable(context.Background()); !errors.Is(err, storage.ErrStalled) {
			t.Fatalf("wait: %v", err)
		}
		if waited := time.Since(began); waited != 30*time.Second {
			t.Fatalf("stalled after %v", waited)
		}
		close(release) // the sync succeeds after all; nobody may be told so
		synctest.Wait()
		if got := p.Offsets().HighWatermark; got != 0 {
			t.Fatalf("watermark moved to %d after the stall", got)
		}
		f.clear()
		if got := fmt.Sprint(readAll(t, b.take(), 0)); got != "[a-0]" {
			t.Fatalf("the next owner reads %s", got)
		}
	})
}

func TestPageCacheTopicSyncsWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		b.config.FlushMessages = 1000
		p := b.take()
		var syncs atomic.Int32
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpSync && op.After {
				syncs.Add(1)
			}
			return nil
		})
		appendDurable(t, p, records(t, "a", 3, 1000))
		if p.Offsets().HighWatermark != 3 || syncs.Load() != 0 {
			t.Fatalf("watermark %d, %d syncs at once", p.Offsets().HighWatermark, syncs.Load())
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if syncs.Load() == 0 {
			t.Fatal("no sync after a second")
		}
	})
}

func TestFullVolume(t *testing.T) {
	mem := vfs.NewMem(48 << 20)
	b := newBench(t, mem, storage.Options{})
	v, err := storage.OpenVolume(mem, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: storage.DefaultReserve})
	must(t, err)
	take := func() *storage.Partition {
		p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Volume: v, Config: b.config})
		must(t, err)
		return p
	}
	p := take()
	n, err := fillUp(t, p)
	if !errors.Is(err, storage.ErrStorageFull) {
		t.Fatalf("append to a full volume: %v", err)
	}
	p.Abandon()
	p = take() // the reserve makes room for a claim and a manifest
	if got := len(readAll(t, p, 0)); got < n {
		t.Fatalf("%d of %d acknowledged records after the volume was full", got, n)
	}
	if _, err := p.Append(records(t, "b", 1, 1), storage.AppendOptions{}); !errors.Is(err, storage.ErrStorageFull) {
		t.Fatalf("append to a volume that is still full: %v", err)
	}
	_, err = p.DeleteRecords(context.Background(), -1)
	must(t, err)
	for v.Full() {
		must(t, v.Refresh())
		time.Sleep(time.Millisecond)
	}
	appendDurable(t, p, records(t, "c", 1, 1))
}

func TestLogTellsOfAFullVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := newBench(t, vfs.NewMem(48<<20), storage.Options{Logger: zerolog.New(zerolog.SyncWriter(&log))})
		v, err := storage.OpenVolume(b.fs, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: storage.DefaultReserve})
		must(t, err)
		p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Volume: v, Config: b.config})
		must(t, err)
		told := func(what string, times int) {
			t.Helper()
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if got := strings.Count(log.String(), what); got != times {
				t.Errorf("%q is in the log %d times, want %d:\n%s", what, got, times, log.String())
			}
		}
		told("volume", 0)
		if _, err := fillUp(t, p); !errors.Is(err, storage.ErrStorageFull) {
			t.Fatalf("append to a full volume: %v", err)
		}
		told("volume is full", 1)
		_, err = p.DeleteRecords(context.Background(), -1)
		must(t, err)
		told("volume has room again", 1)
		appendDurable(t, p, records(t, "c", 1, 1))
		told("volume is full", 1)
		p.Abandon()
	})
}

// fillUp appends until it fails and returns how many records were acknowledged.
func fillUp(t *testing.T, p *storage.Partition) (int, error) {
	t.Helper()
	value := string(make([]byte, 100<<10))
	for n := 0; ; n++ {
		ticket, err := p.Append(records(t, value, 1, int64(n)), storage.AppendOptions{})
		if err == nil {
			err = ticket.WaitDurable(context.Background())
		}
		if err != nil {
			return n, err
		}
	}
}

func TestReadOnlyFileSystemServesReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		p := b.take()
		appendDurable(t, p, records(t, "a", 2, 1000))
		time.Sleep(time.Minute) // the idle file is closed
		f.set(func(op vfs.Op) error {
			if !op.After && (op.Kind.Mutating() || op.Kind == vfs.OpOpenWrite) {
				return syscall.EROFS
			}
			return nil
		})
		if got := fmt.Sprint(readAll(t, p, 0)); got != "[a-0 a-1]" {
			t.Fatalf("read %s", got)
		}
		ticket, err := p.Append(records(t, "b", 1, 1000), storage.AppendOptions{})
		if err == nil {
			err = ticket.WaitDurable(context.Background())
		}
		if !errors.Is(err, syscall.EROFS) {
			t.Fatalf("append: %v", err)
		}
	})
}
