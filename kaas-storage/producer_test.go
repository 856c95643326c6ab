package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func buildSequenced(id int64, epoch int16, sequence int32, n int, value string) (batch.Batch, error) {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = id, epoch, sequence
	for range n {
		builder.Add(1000, nil, []byte(value))
	}
	return builder.Build()
}

// A retry is answered after its original: until then the original may still be lost.
func TestDuplicateWaitsForItsOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		p := b.take()
		release := make(chan struct{})
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpSync && !op.After {
				<-release
			}
			return nil
		})
		original, err := p.Append(sequenced(t, 1, 0, 0, 2), storage.AppendOptions{})
		must(t, err)
		retry, err := p.Append(sequenced(t, 1, 0, 0, 2), storage.AppendOptions{})
		must(t, err)
		if !retry.Result().Duplicate || retry.Result().BaseOffset != original.Result().BaseOffset {
			t.Fatalf("retry: %+v", retry.Result())
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := retry.WaitDurable(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the retry was answered first: %v", err)
		}
		close(release)
		must(t, retry.WaitDurable(context.Background()))
		must(t, original.WaitDurable(context.Background()))
		if end := p.Offsets().LogEnd; end != 2 {
			t.Fatalf("log end %d", end)
		}
	})
}

// Whoever may produce can make up any number of producer ids. Those heard of longest ago are forgotten, where there are most of them; those of transactions
// last.
func TestProducersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1, MaxProducers: 100})
		p := b.take()
		must(t, f.MkdirAll("q"))
		dir, err := f.OpenDir("q")
		must(t, err)
		must(t, storage.InitPartition(dir, 0))
		quiet, err := b.engine.Take(t.Context(), dir, storage.TakeOptions{Label: "q", Config: b.config})
		must(t, err)
		for id := range int64(20) {
			appendDurable(t, quiet, sequenced(t, id, 0, 0, 1))
		}
		must(t, sendTransactional(t, p, 1000, 0).WaitDurable(t.Context()))
		must(t, sendTransactional(t, p, 1001, 0).WaitDurable(t.Context()))
		must(t, sendMarker(t, p, 1001, true, 1).WaitDurable(t.Context()))
		for id := range int64(500) {
			appendDurable(t, p, sequenced(t, id, 0, 0, 1))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if kept := len(quiet.Producers()); kept != 20 {
			t.Errorf("a partition below its share remembers %d of 20", kept)
		}
		kept := p.Producers()
		if len(kept) != 80 || kept[0].ID != 422 || kept[77].ID != 499 || kept[78].ID != 1000 || kept[79].ID != 1001 {
			t.Errorf("%d are left, from %d on", len(kept), kept[0].ID)
		}
		appendDurable(t, p, sequenced(t, 499, 0, 1, 1))
		appendDurable(t, p, sequenced(t, 7, 0, 1, 1)) // forgotten, goes on
		if again, err := p.Append(sequenced(t, 499, 0, 1, 1), storage.AppendOptions{}); err != nil || !again.Result().Duplicate {
			t.Errorf("a retry of one that is remembered: %+v, %v", again.Result(), err)
		}
	})
}
