package storage_test

import (
	"context"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// The end of a section is behind its last batch, and no further than the next entry of the index, whether that is in memory or in a file.
func TestSectionEnd(t *testing.T) {
	const batches = 40
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	b.config.IndexInterval = 200 // an entry for each third batch or so
	p := b.take()
	for i := range batches {
		appendDurable(t, p, stamped(t, int64(i+1)))
	}
	size := int(p.Size()) / batches
	check := func(where string, p *storage.Partition) {
		for from := range int64(batches) {
			for count := 1; int(from)+count <= batches; count++ {
				section, err := p.Read(from, storage.ReadOptions{MaxBytes: count * size})
				must(t, err)
				end, err := section.End()
				must(t, err)
				section.Release()
				if least := from + int64(count); end < least || end > least+4 {
					t.Fatalf("%s: %d batches from offset %d end at %d", where, count, from, end)
				}
			}
		}
	}
	check("in memory", p)
	must(t, p.Handover(context.Background()))
	p = b.take()
	check("in files", p)
	appendDurable(t, p, stamped(t, 1))
	check("in files, beside a newer segment", p)
}
