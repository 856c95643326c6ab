package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
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

// keyedIn is one record of a producer's transaction.
func keyedIn(t *testing.T, id int64, sequence int32, key, value string) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = id, 0, sequence, true
	builder.Add(1000, []byte(key), []byte(value))
	b, err := builder.Build()
	must(t, err)
	return b
}

// A client that is told of an aborted transaction leaves its producer's records out until it meets the marker: the one does not stay without the other.
func TestMarkersStayWithTheirEntries(t *testing.T) {
	b := newCompacted(t)
	b.config.DeleteRetention, b.config.VerifyTransactions = 0, false
	p := b.take()
	for number, commit := range []bool{false, true} {
		appendDurable(t, p, keyedIn(t, 7, int32(number), fmt.Sprint("k", number), "v"))
		must(t, sendMarker(t, p, 7, commit, int64(number+1)).WaitDurable(context.Background()))
	}
	appendDurable(t, p, keyed(t, "b=1"))
	appendDurable(t, p, keyed(t, "b=2"))
	appendDurable(t, p, keyed(t, "b=3"))
	slow, err := p.Read(0, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true, Committed: true})
	must(t, err)
	check := func(want bool) {
		t.Helper()
		told, err := p.AbortedIn(0, p.Offsets().LastStable)
		must(t, err)
		section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		must(t, err)
		defer section.Release()
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		must(t, err)
		marker := false
		for len(data) > 0 {
			var one batch.Batch
			one, data, err = batch.Next(data)
			must(t, err)
			marker = marker || one.BaseOffset() == 1 && one.Control() && one.Count() == 1
		}
		if len(told) > 0 && !marker || want != (len(told) > 0) {
			t.Errorf("told of %v, the marker is there: %t", told, marker)
		}
	}
	for range 4 {
		must(t, p.Compact(context.Background()))
		check(true)
	}
	slow.Release()
	for range 2 {
		must(t, p.Compact(context.Background()))
	}
	check(false)
}
