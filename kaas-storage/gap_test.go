package storage_test

import (
	"context"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// A reader of committed records who stands in a gap gets nothing of the open transaction behind it, though that is the next batch.
func TestGapInFrontOfAnOpenTransaction(t *testing.T) {
	b := newCompacted(t)
	b.config.DeleteRetention = 0
	p := b.take()
	appendDurable(t, p, keyed(t, "a=1"))
	appendDurable(t, p, keyed(t, "a"))
	must(t, sendTransactional(t, p, 7, 0).WaitDurable(context.Background()))
	appendDurable(t, p, keyed(t, "b=1"))
	for range 3 { // the deletion is dated, then dropped
		must(t, p.Compact(context.Background()))
	}
	if got := readKeyed(t, p, 0); len(got) != 2 {
		t.Fatalf("%v is left, not only the transaction and what follows it", got)
	}
	if bounds := p.Offsets(); bounds.LastStable != 2 || bounds.HighWatermark != 4 {
		t.Fatalf("bounds %+v", bounds)
	}
	for offset := range int64(3) {
		for _, maxBytes := range []int{0, 1, 1 << 20} {
			section, err := p.Read(offset, storage.ReadOptions{MaxBytes: maxBytes, AtLeastOneBatch: true, Committed: true})
			must(t, err)
			if section != nil {
				t.Errorf("%d bytes from offset %d, with at most %d", section.Size(), offset, maxBytes)
				section.Release()
			}
		}
	}
	must(t, sendMarker(t, p, 7, true, 1).WaitDurable(context.Background()))
	section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true, Committed: true})
	must(t, err)
	if section == nil {
		t.Fatal("nothing behind the gap, though it is decided")
	}
	section.Release()
}
