package storage_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// oldAndNew is a log of two epochs: five one-record segments in the chain, and two of the newest epoch that were handed over.
func oldAndNew(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	b.config.IndexInterval = 1
	for epoch := range 2 {
		p := b.take()
		for i := range 6 {
			appendDurable(t, p, records(t, "value", 2, int64(1000*epoch+i)))
		}
		must(t, p.Handover(context.Background()))
		<-p.Closed()
	}
	return b
}

func (b *bench) findings() (found []storage.Finding) {
	b.t.Helper()
	dir := b.dir()
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	must(b.t, err)
	must(b.t, inspection.Verify(func(f storage.Finding) { found = append(found, f) }))
	return found
}

func TestVerifyFindsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		suffix string // of the names of the files that are damaged, each in turn
		damage func(b *bench, name string)
	}{
		"a byte of a record":        {".log", func(b *bench, name string) { b.flip(name, 70) }},
		"a byte of an offset":       {".log", func(b *bench, name string) { b.flip(name, 7) }},
		"the length of a batch":     {".log", func(b *bench, name string) { b.flip(name, 8) }},
		"an epoch in a header":      {".log", func(b *bench, name string) { b.flip(name, 15) }},
		"a position in an index":    {".index", func(b *bench, name string) { b.flip(name, 7) }},
		"an offset in an index":     {".index", func(b *bench, name string) { b.flip(name, -5) }},
		"a timestamp in an index":   {".timeindex", func(b *bench, name string) { b.flip(name, 7) }},
		"an offset of a time index": {".timeindex", func(b *bench, name string) { b.flip(name, -1) }},
	} {
		t.Run(name, func(t *testing.T) {
			tried := 0
			for _, file := range oldAndNew(t).names() {
				if !strings.HasSuffix(file, c.suffix) {
					continue
				}
				tried++
				b := oldAndNew(t)
				if found := b.findings(); len(found) > 0 {
					t.Fatalf("before: %+v", found)
				}
				c.damage(b, file)
				found := b.findings()
				if len(found) == 0 || !found[0].Damage || found[0].File != file {
					t.Errorf("%s: %+v is found", file, found)
				}
			}
			if tried != 2 {
				t.Errorf("%d files were tried", tried)
			}
		})
	}
}

func TestVerifyFindsMissingSegments(t *testing.T) {
	for _, segment := range []int{1, 2, 4} { // of the open epoch; the first one's loss stops Inspect in a chain only
		b := closedLog(t, 5)
		b.remove(b.logs()[segment])
		if found := b.findings(); len(found) == 0 || !found[len(found)-1].Damage {
			t.Errorf("segment %d of 5 is missing, and %+v is found", segment, found)
		}
	}
}

// What a crash leaves behind the recovery point ends the log, and is no damage.
func TestVerifyEndsAtATornTail(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	p := b.take()
	for i := range 3 {
		appendDurable(t, p, records(t, "value", 1, int64(i)))
	}
	p.Abandon()
	<-p.Closed()
	b.flip(b.logs()[0], -1)
	found := b.findings()
	if len(found) != 1 || found[0].Damage || !strings.Contains(found[0].What, "offset 2") {
		t.Errorf("%+v is found", found)
	}
}

func TestInspectShowsEveryBatch(t *testing.T) {
	b := oldAndNew(t)
	dir := b.dir()
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	must(t, err)
	next := int64(0)
	for number, segment := range inspection.Segments {
		for placed, err := range inspection.Batches(number) {
			must(t, err)
			if placed.Batch.BaseOffset() != next || int64(binary.BigEndian.Uint64(placed.Batch)) != next {
				t.Errorf("%s has offset %d at byte %d, want %d", segment.Name, placed.Batch.BaseOffset(), placed.Position, next)
			}
			next = placed.Batch.LastOffset() + 1
		}
	}
	if next != 24 || inspection.Recovery.Offset != 24 || inspection.LogStart != 0 || len(inspection.LeaderEpochs) != 2 || len(inspection.Claims) != 0 {
		t.Errorf("the batches end at %d, the log is %+v", next, inspection)
	}
}
