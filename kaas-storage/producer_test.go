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
