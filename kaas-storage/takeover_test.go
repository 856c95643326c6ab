package storage_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func claimMade(op vfs.Op) bool {
	return op.Kind == vfs.OpMkdir && strings.HasPrefix(op.Name, "leader.") && op.After
}

func TestTakeoverOfADeletedPartition(t *testing.T) {
	f := newFaulty(16 << 20)
	b := newBench(t, f, storage.Options{})
	f.set(at(claimMade, func() { must(t, b.fs.MkdirAll("p/leader.ffffffff")) }))
	_, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
	if !errors.Is(err, storage.ErrDeleted) || errors.Is(err, storage.ErrFenced) {
		t.Fatalf("deleted while being taken over: %v", err)
	}
	f.clear()
	if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !errors.Is(err, storage.ErrDeleted) {
		t.Fatalf("deleted before: %v", err)
	}
}

func TestTwoDestroyersFinishTogether(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpMkdir, vfs.OpList, vfs.OpRemove, vfs.OpSyncDir, vfs.OpRmdir} {
		t.Run(kind.String(), func(t *testing.T) {
			f := newFaulty(16 << 20)
			b := newBench(t, f, storage.Options{})
			root, err := f.OpenDir(".")
			must(t, err)
			defer root.Close()
			f.set(at(func(op vfs.Op) bool { return op.Kind == kind && !op.After }, func() {
				must(t, storage.DestroyPartition(context.Background(), root, "p"))
			}))
			must(t, storage.DestroyPartition(context.Background(), root, "p"))
			if _, err := b.fs.OpenDir("p"); err == nil {
				t.Fatal("the directory is still there")
			}
		})
	}
}

func TestInitPartitionHidesNoLoss(t *testing.T) {
	cases := map[string]struct {
		make func(b *bench)
		want error
	}{
		"segments without a manifest": {func(b *bench) { b.write("00000000000000000000.00000003.log", "x") }, storage.ErrNoManifest},
		"claim without a manifest":    {func(b *bench) { must(b.t, b.fs.MkdirAll("p/leader.00000003")) }, storage.ErrNoManifest},
		"being deleted":               {func(b *bench) { must(b.t, b.fs.MkdirAll("p/leader.ffffffff")) }, storage.ErrDeleted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
			b.remove("manifest.00000000")
			c.make(b)
			dir := b.dir()
			defer dir.Close()
			if err := storage.InitPartition(dir, 0); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
		})
	}
}

func TestInterruptedManifestsAreCleanedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
		p := b.take()
		b.write(".manifest.00000001.ABC.tmp", "{")
		b.write(".manifest.00000009.ABC.tmp", "{") // of an epoch above: its writer may be at it
		p.Abandon()
		b.take()
		synctest.Wait() // garbage is removed beside the service
		names := strings.Join(b.names(), " ")
		if strings.Contains(names, ".manifest.00000001") || !strings.Contains(names, ".manifest.00000009") {
			t.Fatalf("left: %s", names)
		}
	})
}

// The old owner may still be unlinking what its manifest calls dead while the next one takes over.
func TestDeadSegmentVanishesDuringATakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		p := b.take()
		appendDurable(t, p, records(t, "a", 5, 1000))
		section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1000}) // holds the removal up
		must(t, err)
		_, err = p.DeleteRecords(context.Background(), -1)
		must(t, err)
		f.set(at(func(op vfs.Op) bool { return op.Kind == vfs.OpOpen && strings.HasSuffix(op.Name, ".log") && !op.After }, func() {
			section.Release()
			synctest.Wait()
		}))
		next := b.take()
		if bounds := next.Offsets(); bounds.LogStart != 5 || bounds.LogEnd != 5 {
			t.Fatalf("bounds %+v", bounds)
		}
		appendDurable(t, next, records(t, "b", 1, 1000))
	})
}

// handleCount is a hook that counts open handles.
type handleCount struct{ files, dirs, claims atomic.Int64 }

func (c *handleCount) hook(op vfs.Op) error {
	if !op.After || op.Err != nil {
		return nil //nolint:nilerr // counted are the handles that were opened
	}
	switch op.Kind {
	case vfs.OpCreate, vfs.OpOpen, vfs.OpOpenWrite:
		c.files.Add(1)
	case vfs.OpCloseFile:
		c.files.Add(-1)
	case vfs.OpOpenDir, vfs.OpParent:
		c.dirs.Add(1)
	case vfs.OpCloseDir:
		c.dirs.Add(-1)
	case vfs.OpHold:
		c.claims.Add(1)
	case vfs.OpCloseClaim:
		c.claims.Add(-1)
	}
	return nil
}

func TestEngineClosedDuringATakeoverLeaksNoHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		var open handleCount
		closed := false
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpCheck && !op.After && !closed {
				closed = true
				go func() { _ = b.engine.Close() }()
				synctest.Wait()
			}
			return open.hook(op)
		})
		if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !errors.Is(err, storage.ErrClosed) {
			t.Fatalf("takeover: %v", err)
		}
		synctest.Wait()
		if f, d, c := open.files.Load(), open.dirs.Load(), open.claims.Load(); f != 0 || d != 0 || c != 0 {
			t.Fatalf("open: %d files, %d directories, %d claims", f, d, c)
		}
		if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !errors.Is(err, storage.ErrClosed) {
			t.Fatalf("takeover after Close: %v", err)
		}
		if d := open.dirs.Load(); d != 0 {
			t.Fatalf("%d directories open after a refused takeover", d)
		}
	})
}

func TestFullWithoutAVolume(t *testing.T) {
	b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
	p := b.take()
	if _, err := fillUp(t, p); !errors.Is(err, storage.ErrStorageFull) {
		t.Fatalf("append to a full file system: %v", err)
	}
}

// A process that was replaced while it took over leaves its successor alone, and no later taker gets the epoch that it claimed.
func TestTakeoverByAProcessThatWasReplaced(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	replaced := errors.New("replaced")
	_, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config, Entitled: func() error { return replaced }})
	if !errors.Is(err, replaced) {
		t.Fatalf("the replaced one: %v", err)
	}
	successor := b.take()
	_, err = b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config, Entitled: func() error {
		appendDurable(t, successor, records(t, "a", 1, 1000))
		return replaced
	}})
	if !errors.Is(err, replaced) {
		t.Fatalf("the replaced one, behind its successor: %v", err)
	}
	appendDurable(t, successor, records(t, "b", 1, 1000))
	if next := b.take(); next.Epoch() <= successor.Epoch()+1 {
		t.Errorf("epoch %d after %d and one that was claimed in vain", next.Epoch(), successor.Epoch())
	}
}

// sparse is a batch that takes as many offsets as a header can say.
func sparse(t *testing.T, timestamp int64) batch.Batch {
	t.Helper()
	b := stamped(t, timestamp)
	binary.BigEndian.PutUint32(b[23:], math.MaxInt32-1)
	resum(b)
	return b
}

// A tail may come from many files, and offsets in one file's indexes are 32 bits above its first: what is copied must be found again.
func TestTailOfDistantOffsets(t *testing.T) {
	b := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1})
	b.config.IndexInterval = 1
	const batches = 10
	p := b.take()
	for i := range batches {
		appendDurable(t, p, sparse(t, int64(100+i)))
	}
	check := func(when string) {
		t.Helper()
		for i := range int64(batches) {
			base := i * math.MaxInt32
			for _, offset := range []int64{base, base + 1, base + math.MaxInt32 - 1} {
				section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1, AtLeastOneBatch: true})
				if err != nil {
					t.Fatalf("%s: offset %d: %v", when, offset, err)
				}
				header := make(batch.Batch, section.Size())
				_, err = section.ReadAt(header, 0)
				must(t, err)
				if end, err := section.End(); header.BaseOffset() != base || err != nil || end < base+math.MaxInt32 {
					t.Errorf("%s: offset %d is in the batch at %d, which ends before %d, %v", when, offset, header.BaseOffset(), end, err)
				}
				section.Release()
			}
			if found := lookUp(t, p, 100+i); found.Offset != base {
				t.Errorf("%s: the time of batch %d is found at %+v", when, i, found)
			}
		}
	}
	check("appended")
	for _, when := range []string{"taken over", "taken over again"} {
		p.Abandon()
		<-p.Closed()
		p = b.take()
		check(when)
	}
	must(t, p.Handover(t.Context()))
	<-p.Closed()
	p = b.take()
	check("handed over")
}
