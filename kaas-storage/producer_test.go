package storage_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// sequenced builds a batch of n records of an idempotent producer.
func sequenced(t testing.TB, id int64, epoch int16, sequence int32, n int) batch.Batch {
	t.Helper()
	b, err := buildSequenced(id, epoch, sequence, n, "v")
	must(t, err)
	return b
}

func buildSequenced(id int64, epoch int16, sequence int32, n int, value string) (batch.Batch, error) {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = id, epoch, sequence
	for range n {
		builder.Add(1000, nil, []byte(value))
	}
	return builder.Build()
}

// sequenceStep is one append and what must come of it.
type sequenceStep struct {
	epoch     int16
	sequence  int32
	n         int
	offset    int64
	duplicate bool
	err       error
}

func TestSequences(t *testing.T) {
	cases := map[string][]sequenceStep{
		"in order":           {{sequence: 0, n: 2}, {sequence: 2, n: 3, offset: 2}},
		"any first sequence": {{sequence: 77, n: 1}, {sequence: 78, n: 1, offset: 1}},
		"gap":                {{sequence: 0, n: 1}, {sequence: 2, n: 1, err: storage.ErrOutOfOrderSequence}},
		"retry of the last":  {{sequence: 0, n: 2}, {sequence: 0, n: 2, duplicate: true}},
		"retry of the fifth": {
			{sequence: 0, n: 1}, {sequence: 1, n: 1, offset: 1}, {sequence: 2, n: 1, offset: 2}, {sequence: 3, n: 1, offset: 3}, {sequence: 4, n: 1, offset: 4},
			{sequence: 0, n: 1, duplicate: true},
		},
		"retry of the sixth": {
			{sequence: 0, n: 1}, {sequence: 1, n: 1, offset: 1}, {sequence: 2, n: 1, offset: 2}, {sequence: 3, n: 1, offset: 3}, {sequence: 4, n: 1, offset: 4},
			{sequence: 5, n: 1, offset: 5}, {sequence: 0, n: 1, err: storage.ErrOutOfOrderSequence},
		},
		"overlap":                   {{sequence: 0, n: 2}, {sequence: 1, n: 2, err: storage.ErrOutOfOrderSequence}},
		"raised epoch begins at 0":  {{sequence: 0, n: 2}, {epoch: 1, sequence: 0, n: 1, offset: 2}},
		"raised epoch in the midst": {{sequence: 0, n: 2}, {epoch: 1, sequence: 2, n: 1, err: storage.ErrOutOfOrderSequence}},
		"lower epoch":               {{epoch: 3, sequence: 0, n: 1}, {epoch: 2, sequence: 1, n: 1, err: storage.ErrProducerEpoch}},
		"wrap":                      {{sequence: math.MaxInt32 - 1, n: 2}, {sequence: 0, n: 1, offset: 2}},
	}
	for name, steps := range cases {
		for _, reopen := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", taken over between", false: ""}[reopen], func(t *testing.T) {
				b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
				p := b.take()
				for i, step := range steps {
					checkStep(t, p, i, step)
					if reopen {
						p.Abandon()
						p = b.take()
					}
				}
			})
		}
	}
}

func checkStep(t *testing.T, p *storage.Partition, i int, step sequenceStep) {
	t.Helper()
	ticket, err := p.Append(sequenced(t, 9, step.epoch, step.sequence, step.n), storage.AppendOptions{})
	if !errors.Is(err, step.err) {
		t.Fatalf("step %d: error %v, want %v", i, err, step.err)
	}
	if err != nil {
		return
	}
	must(t, ticket.WaitDurable(context.Background()))
	if r := ticket.Result(); r.BaseOffset != step.offset || r.Duplicate != step.duplicate {
		t.Fatalf("step %d: %+v, want offset %d, duplicate %t", i, r, step.offset, step.duplicate)
	}
}

func TestProducersOutliveTheirRecords(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	appendDurable(t, p, sequenced(t, 1, 0, 0, 5))
	_, err := p.DeleteRecords(context.Background(), -1)
	must(t, err)
	must(t, p.Handover(context.Background()))
	p = b.take()
	if _, err := p.Append(sequenced(t, 1, 0, 7, 1), storage.AppendOptions{}); !errors.Is(err, storage.ErrOutOfOrderSequence) {
		t.Fatalf("gap after the records were deleted: %v", err)
	}
	states := p.Producers()
	if len(states) != 1 || states[0].LastSequence != 4 || states[0].LastOffset != 4 {
		t.Fatalf("states: %+v", states)
	}
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
