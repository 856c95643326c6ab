package storage_test

import (
	"context"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestLeaderEpochs(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
	next := func(p *storage.Partition, n int) *storage.Partition { // lead once more, and append n records
		t.Helper()
		if p != nil {
			p.Abandon()
			<-p.Closed()
		}
		p = b.take()
		if n > 0 {
			appendDurable(t, p, records(t, "r", n, 1000))
		}
		return p
	}
	type answer struct {
		epoch storage.Epoch
		end   int64
	}
	check := func(name string, p *storage.Partition, want map[storage.Epoch]answer) {
		t.Helper()
		for asked, w := range want {
			if epoch, end := p.OffsetForLeaderEpoch(asked); (answer{epoch, end}) != w {
				t.Errorf("%s: epoch %d: (%d, %d), want (%d, %d)", name, asked, epoch, end, w.epoch, w.end)
			}
		}
	}
	p := next(nil, 0)
	p = next(p, 0)
	check("no record yet", p, map[storage.Epoch]answer{-1: {-1, -1}, 0: {0, 0}, 1: {1, 0}, 2: {2, 0}, 3: {-1, -1}})
	p = next(p, 3) // epoch 3: 0-2
	p = next(p, 0) // epoch 4: none
	p = next(p, 2) // epoch 5: 3-4
	p = next(p, 4) // epoch 6: 5-8
	p = next(p, 0) // epoch 7: none
	history := map[storage.Epoch]answer{-1: {-1, -1}, 1: {1, 0}, 2: {2, 0}, 3: {3, 3}, 4: {3, 3}, 5: {5, 5}, 6: {6, 9}, 7: {7, 9}, 8: {-1, -1}}
	check("many takeovers", p, history)
	for offset, epoch := range map[int64]storage.Epoch{0: 3, 2: 3, 3: 5, 4: 5, 5: 6, 8: 6} {
		if got := p.EpochForOffset(offset); got != epoch {
			t.Errorf("offset %d is of epoch %d, want %d", offset, got, epoch)
		}
	}
	_, err := p.DeleteRecords(context.Background(), 4)
	must(t, err)
	for name, q := range map[string]*storage.Partition{"deleted": p} {
		check(name, q, map[storage.Epoch]answer{1: {1, 4}, 3: {3, 4}, 5: {5, 5}, 6: {6, 9}, 7: {7, 9}})
	}
	must(t, p.Handover(context.Background()))
	<-p.Closed()
	p = b.take() // epoch 8
	check("deleted, reopened", p, map[storage.Epoch]answer{1: {1, 4}, 3: {3, 4}, 5: {5, 5}, 6: {6, 9}, 7: {6, 9}, 8: {8, 9}, 9: {-1, -1}})
	_, err = p.DeleteRecords(context.Background(), -1)
	must(t, err)
	p = next(p, 1)
	check("all deleted", p, map[storage.Epoch]answer{5: {5, 9}, 6: {6, 9}, 8: {6, 9}, 9: {9, 10}})
}
