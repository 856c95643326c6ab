package storage_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
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

// A log may have any number of segments. Neither who writes, nor a recovery point, nor a question for a time keeps the files of all of them open.
func TestManySegmentsHoldFewDescriptors(t *testing.T) {
	t.Run("synced", func(t *testing.T) { holdFewDescriptors(t, 1, 20) })
	t.Run("not synced", func(t *testing.T) { holdFewDescriptors(t, 1<<20, 120) })
}

// Without timestamps a question for a time searches all segments.
func TestSegmentsWithoutTimestampsHoldFewDescriptors(t *testing.T) {
	const segments, most = 100, 20
	disk, err := vfs.OS(t.TempDir())
	must(t, err)
	defer disk.Close()
	before := descriptors(t)
	b := newBench(t, disk, storage.Options{RetentionInterval: -1})
	b.config.SegmentBytes = 1
	p := b.take()
	for range segments {
		appendDurable(t, p, stamped(t, batch.NoTimestamp))
	}
	for range 2 {
		if found := lookUp(t, p, 5000); found.Offset != -1 {
			t.Errorf("found %+v", found)
		}
		if newest, err := p.MaxTimestampOffset(t.Context(), segments); newest.Offset != -1 || err != nil {
			t.Errorf("the largest is %+v, %v", newest, err)
		}
		if held := descriptors(t) - before; held > most {
			t.Errorf("%d descriptors for %d segments", held, segments)
		}
		p.Abandon()
		<-p.Closed()
		p = b.take()
	}
}

// A tail whose offsets are far apart is copied into many segments.
func TestTailOfManySegmentsHoldsFewDescriptors(t *testing.T) {
	const batches, most = 100, 20
	disk, err := vfs.OS(t.TempDir())
	must(t, err)
	defer disk.Close()
	before := descriptors(t)
	b := newBench(t, disk, storage.Options{RetentionInterval: -1})
	p := b.take()
	for range batches {
		appendDurable(t, p, sparse(t, 1000))
	}
	p.Abandon()
	<-p.Closed()
	b.take()
	if held := descriptors(t) - before; held > most {
		t.Errorf("%d descriptors for a tail of %d segments", held, batches)
	}
}

func holdFewDescriptors(t *testing.T, flushMessages int64, most int) {
	const segments = 300
	synctest.Test(t, func(t *testing.T) {
		disk, err := vfs.OS(t.TempDir())
		must(t, err)
		defer disk.Close()
		before := descriptors(t)
		check := func(when string) {
			t.Helper()
			if held := descriptors(t) - before; held > most {
				t.Errorf("%s: %d descriptors for %d segments", when, held, segments)
			}
		}
		b := newBench(t, disk, storage.Options{RetentionInterval: -1})
		b.config.SegmentBytes, b.config.FlushMessages = 1, flushMessages
		p := b.take()
		for i := range segments {
			appendDurable(t, p, stamped(t, int64(1000+i)))
		}
		check("written")
		_, err = p.DeleteRecords(t.Context(), 1)
		must(t, err)
		check("behind a recovery point")
		must(t, p.Handover(t.Context()))
		<-p.Closed()
		p = b.take()
		for range 2 {
			if found := lookUp(t, p, 5000); found.Offset != -1 {
				t.Errorf("found %+v", found)
			}
			newest, err := p.MaxTimestampOffset(t.Context(), segments)
			must(t, err)
			if newest.Offset != segments-1 || newest.Timestamp != 1000+segments-1 {
				t.Errorf("the largest is %+v", newest)
			}
			check("asked for a time")
		}
	})
}

// A compaction neither keeps its inputs open, nor its outputs.
func TestCompactionHoldsFewDescriptors(t *testing.T) {
	const segments, most = 100, 20
	disk, err := vfs.OS(t.TempDir())
	must(t, err)
	defer disk.Close()
	before := descriptors(t)
	b := newBench(t, disk, storage.Options{RetentionInterval: -1, CompactionInterval: -1})
	b.config.SegmentBytes, b.config.Compact, b.config.MinCleanableDirtyRatio = 1, true, 0
	p := b.take()
	for i := range segments {
		appendDurable(t, p, keyed(t, fmt.Sprint("key ", i, "=value")))
	}
	must(t, p.Compact(t.Context()))
	if held := descriptors(t) - before; held > most {
		t.Errorf("%d descriptors after a compaction of %d segments", held, segments)
	}
}
