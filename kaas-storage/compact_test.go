package storage_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// keyed builds a batch of records with keys; an empty value is a deletion.
func keyed(t *testing.T, pairs ...string) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		if value == "" {
			builder.Add(1000, []byte(key), nil)
			continue
		}
		builder.Add(1000, []byte(key), []byte(value))
	}
	b, err := builder.Build()
	must(t, err)
	return b
}

// newCompacted is a bench whose logs are compacted and have two batches or so in a segment.
func newCompacted(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1, CompactionInterval: -1})
	b.config.Compact, b.config.Delete, b.config.SegmentBytes, b.config.IndexInterval = true, false, 200, 1
	return b
}

// readKeyed reads the records from an offset on, in order, as offset:key=value.
func readKeyed(t *testing.T, p *storage.Partition, from int64) []string {
	t.Helper()
	var found []string
	for from < p.Offsets().HighWatermark {
		section, err := p.Read(from, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		must(t, err)
		if section == nil {
			t.Fatalf("nothing at offset %d below the watermark %d", from, p.Offsets().HighWatermark)
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		must(t, err)
		section.Release()
		for len(data) > 0 {
			var b batch.Batch
			b, data, err = batch.Next(data)
			must(t, err)
			for r, err := range b.Records(nil, batch.SiteTool, 1<<20) {
				must(t, err)
				if offset := b.BaseOffset() + int64(r.OffsetDelta); offset >= from && !b.Control() {
					found = append(found, fmt.Sprintf("%d:%s=%s", offset, r.Key, r.Value))
				}
			}
			from = max(from, b.LastOffset()+1)
		}
	}
	return found
}

func (b *bench) segments() int {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	must(b.t, err)
	return len(inspection.Segments)
}

func TestCompactKeepsTheNewestOfEachKey(t *testing.T) {
	b := newCompacted(t)
	p := b.take()
	newest := map[string]string{}
	for i := range 20 {
		key := fmt.Sprint("k", i%3)
		r := appendDurable(t, p, keyed(t, fmt.Sprintf("%s=v%d", key, i)))
		newest[key] = fmt.Sprintf("%d:%s=v%d", r.BaseOffset, key, i)
	}
	before := p.Size()
	must(t, p.Compact(context.Background()))
	want := slices.Sorted(maps.Values(newest))
	check := func(when string) {
		t.Helper()
		got := readKeyed(t, p, 0)
		// The last segment stays as it is, so up to two older records may be there.
		if n := len(got); n < 3 || n > 5 {
			t.Errorf("%s: read %v", when, got)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %s is missing in %v", when, w, got)
			}
		}
		for from := range p.Offsets().HighWatermark {
			if rest := readKeyed(t, p, from); len(rest) == 0 || !slices.Equal(rest, got[len(got)-len(rest):]) {
				t.Errorf("%s: from offset %d: %v of %v", when, from, rest, got)
			}
		}
		if found := b.findings(); len(found) > 0 {
			t.Errorf("%s: %+v is found", when, found)
		}
	}
	check("compacted")
	if after := p.Size(); after > before/2 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	p.Abandon()
	<-p.Closed()
	p = b.take()
	check("reopened")
	must(t, p.Compact(context.Background()))
	check("compacted again")
	if segments := b.segments(); segments > 3 {
		t.Errorf("%d segments are left of a few records", segments)
	}
	p = b.take()
	check("taken from a leader")
}

func TestLostCompactedFilesAreErrors(t *testing.T) {
	for name, damage := range map[string]func(b *bench, file string){
		"missing": func(b *bench, file string) { b.remove(file) },
		"short":   func(b *bench, file string) { b.remove(file); b.write(file, "x") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newCompacted(t)
			p := b.take()
			for i := range 10 {
				appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=v%d", i%5, i)))
			}
			must(t, p.Compact(context.Background()))
			p.Abandon()
			<-p.Closed()
			for _, file := range b.logs() {
				if strings.Count(file, ".") == 3 && !strings.HasPrefix(file, "00000000000000000000") { // the first one is empty
					damage(b, file)
					if _, err := b.tryTake(); !isCorruption(err) || !strings.Contains(err.Error(), file) {
						t.Fatalf("takeover without %s: %v", file, err)
					}
					return
				}
			}
			t.Fatalf("nothing to damage: %v", b.names())
		})
	}
}

// What compaction would need must not be taken from appends, whose leaderships end when a write fails for want of space.
func TestCompactionLeavesRoomToAppends(t *testing.T) {
	b := newBench(t, vfs.NewMem(48<<20), storage.Options{RetentionInterval: -1, CompactionInterval: -1})
	b.config.Compact, b.config.Delete, b.config.SegmentBytes = true, false, 1<<20
	v, err := storage.OpenVolume(b.fs, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: storage.DefaultReserve})
	must(t, err)
	p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Volume: v, Config: b.config})
	must(t, err)
	for i := range 24 {
		appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=%s", i, strings.Repeat("x", 500<<10))))
	}
	must(t, v.Refresh())
	names := b.names()
	if err := p.Compact(context.Background()); !errors.Is(err, storage.ErrStorageFull) {
		t.Errorf("compaction of what does not fit twice: %v", err)
	}
	if p.Err() != nil || v.Full() {
		t.Errorf("the leadership: %v; the volume is full: %t", p.Err(), v.Full())
	}
	if left := b.names(); !slices.Equal(left, names) {
		t.Errorf("left behind: %v of %v", left, names)
	}
	appendDurable(t, p, keyed(t, "k=v"))
}

// A file of the log that is lost is told; one that the log start has passed is not.
func TestCompactionTellsOfALostFile(t *testing.T) {
	b := newCompacted(t)
	p := b.take()
	for i := range 10 {
		appendDurable(t, p, keyed(t, fmt.Sprintf("k%d=v%d", i%5, i)))
	}
	must(t, p.Handover(context.Background()))
	p = b.take()
	b.remove(b.logs()[1])
	var lost *storage.StorageError
	if err := p.Compact(context.Background()); !errors.As(err, &lost) || p.Err() != nil {
		t.Errorf("compaction without %s: %v; the leadership: %v", b.logs()[1], err, p.Err())
	}
}
