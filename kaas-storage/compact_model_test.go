package storage_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// tableOf is what a reader who keeps the newest value of each key ends with. A key that was deleted is not in it.
func tableOf(t *testing.T, p *storage.Partition) map[string]string {
	t.Helper()
	table := map[string]string{}
	for _, record := range readKeyed(t, p, p.Offsets().LogStart) {
		_, pair, _ := strings.Cut(record, ":")
		key, value, _ := strings.Cut(pair, "=")
		if table[key] = value; value == "" {
			delete(table, key)
		}
	}
	return table
}

// Whoever keeps the newest value of each key has the same table from a compacted log as from the whole one, whatever was written, deleted, compacted and lost
// by power cuts, and however small the memory for keys is.
func TestCompactionKeepsTheTable(t *testing.T) {
	seeds := 150
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			disk := vfs.NewCrash(64 << 20)
			b := newBench(t, disk, storage.Options{RetentionInterval: -1, CompactionInterval: -1, CompactionMemory: 100 << r.IntN(6)})
			b.config.Compact, b.config.Delete, b.config.DeleteRetention = true, false, time.Duration(r.IntN(3))*time.Minute
			b.config.SegmentBytes, b.config.IndexInterval = int64(150+r.IntN(600)), 1+r.IntN(300)
			want := map[string]string{}
			p := b.take()
			for step := range 60 {
				switch what := r.IntN(20); {
				case what < 12:
					appendDurable(t, p, randomPairs(t, r, want, step))
				case what < 15:
					must(t, p.Compact(context.Background()))
				case what < 16:
					p.Abandon()
					<-p.Closed()
					p = b.take()
				case what < 17:
					p.Abandon()
					<-p.Closed()
					b.fs = disk.PowerCut(vfs.SurviveSeeded(r.Uint64()))
					disk = b.fs.(*vfs.Crash)
					p = b.take()
				default:
					time.Sleep(time.Minute)
				}
				if got := tableOf(t, p); !maps.Equal(got, want) {
					t.Fatalf("seed %d, step %d: read %v, want %v", seed, step, got, want)
				}
			}
			for range 8 { // each goes on where the memory of the one before was full
				must(t, p.Compact(context.Background()))
				time.Sleep(3 * time.Minute)
			}
			if got := tableOf(t, p); !maps.Equal(got, want) {
				t.Errorf("seed %d, at the end: read %v, want %v", seed, got, want)
			}
			if found := b.findings(); len(found) > 0 {
				t.Errorf("seed %d: %+v is found", seed, found)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func randomPairs(t *testing.T, r *rand.Rand, want map[string]string, step int) batch.Batch {
	t.Helper()
	pairs := make([]string, 0, 3)
	for i := range 1 + r.IntN(3) {
		key, value := fmt.Sprint("k", r.IntN(12)), fmt.Sprintf("v%d.%d", step, i)
		if want[key] = value; r.IntN(4) == 0 {
			value = ""
			delete(want, key)
		}
		pairs = append(pairs, key+"="+value)
	}
	return keyed(t, pairs...)
}

// Readers go on while files are replaced under them, and come to the end.
func TestReadersWhileCompacting(t *testing.T) {
	b := newCompacted(t)
	p := b.take()
	for i := range 10 {
		appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=v", i%3)))
	}
	stop, done := make(chan struct{}), make(chan error)
	for range 3 {
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if _, _, _, err := readCompacted(p); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for i := range 60 {
		appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=v%d", i%3, i)))
		must(t, p.Compact(context.Background()))
		if _, err := p.OffsetForTimestamp(context.Background(), 1000, p.Offsets().HighWatermark); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// What is aborted stays known for as long as somebody reads a file in which a record of it was.
func TestAbortedWhileAnOldFileIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newCompacted(t)
		b.config.DeleteRetention = 0
		l := newCompactedLedger()
		p := b.take()
		must(t, l.begin(p, 1))
		must(t, l.end(p, 1, 1, false))
		for i := range 4 {
			appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=v", i)))
		}
		section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1 << 20, Committed: true})
		must(t, err)
		aborted := func() int {
			found, err := p.AbortedIn(0, 2)
			must(t, err)
			return len(found)
		}
		for range 4 {
			must(t, p.Compact(context.Background()))
			time.Sleep(time.Minute)
			if aborted() != 1 {
				t.Fatal("an aborted transaction is forgotten that is being read")
			}
		}
		section.Release()
		must(t, p.Compact(context.Background()))
		if aborted() != 0 {
			t.Error("an aborted transaction is remembered of which nothing is left")
		}
	})
}
