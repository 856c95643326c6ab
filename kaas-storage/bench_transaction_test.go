package storage_test

import (
	"context"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// BenchmarkAppendOf measures an append by what the engine has to know of its producer: nothing, its sequence, its transaction.
func BenchmarkAppendOf(b *testing.B) {
	for _, kind := range []struct {
		name  string
		build func(sequence int32) (batch.Batch, error)
	}{
		{"no producer", func(int32) (batch.Batch, error) { return build("v", 1, 1000) }},
		{"idempotent producer", func(sequence int32) (batch.Batch, error) { return buildSequenced(1, 0, sequence, 1, "v") }},
		{"transaction", func(sequence int32) (batch.Batch, error) { return buildTransactional(1, sequence, 1, "v") }},
	} {
		b.Run(kind.name, func(b *testing.B) {
			bench := newBench(b, vfs.NewMem(2<<30), storage.Options{RetentionInterval: -1})
			p := bench.take()
			batches := make([]batch.Batch, b.N)
			for i := range batches {
				var err error
				batches[i], err = kind.build(int32(i))
				must(b, err)
			}
			verified, _ := p.Verify(1, 0)
			var last storage.Ticket
			b.ReportAllocs()
			b.ResetTimer()
			for _, one := range batches {
				ticket, err := p.Append(one, storage.AppendOptions{Verified: verified})
				must(b, err)
				last = ticket
			}
			must(b, last.WaitDurable(context.Background()))
		})
	}
}

// BenchmarkReadCommitted measures reading up to a transaction that is open, and the list of what is aborted, in the midst of thousands.
func BenchmarkReadCommitted(b *testing.B) {
	bench := newBench(b, vfs.NewMem(1<<30), storage.Options{RetentionInterval: -1})
	bench.config.SegmentBytes = 1 << 20
	p := bench.take()
	for id := range int64(20_000) {
		sendTransactional(b, p, id, 0)
		sendMarker(b, p, id, id%2 == 0, 1)
	}
	must(b, sendTransactional(b, p, 99_999, 0).WaitDurable(context.Background()))
	for range 1000 {
		appendDurable(b, p, records(b, "a", 1, 1000))
	}
	must(b, storagetest.CheckTransactions(p))
	_, err := p.DeleteRecords(context.Background(), 1) // writes the indexes
	must(b, err)
	stable := p.Offsets().LastStable
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		offset := 1 + int64(i)*7919%(stable-2)
		section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 16 << 10, AtLeastOneBatch: true, Committed: true})
		must(b, err)
		section.Release()
		if _, err := p.AbortedIn(offset, min(offset+100, stable)); err != nil {
			b.Fatal(err)
		}
	}
}
