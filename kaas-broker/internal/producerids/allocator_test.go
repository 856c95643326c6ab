package producerids_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-broker/internal/producerids"
)

// blocks gives blocks of three ids, 100 apart.
type blocks struct {
	taken int64
	err   error
	gate  chan struct{}
	count int64
}

func (b *blocks) NextProducerBlock(context.Context) (first, count int64, err error) {
	if b.gate != nil {
		<-b.gate
	}
	if b.err != nil {
		return 0, 0, b.err
	}
	b.taken++
	return 100 * b.taken, b.count, nil
}

func TestIDsOfBlocks(t *testing.T) {
	a := producerids.New(&blocks{count: 3})
	for _, want := range []int64{100, 101, 102, 200, 201} {
		if got, err := a.Next(t.Context()); err != nil || got != want {
			t.Fatalf("got %d, %v, want %d", got, err, want)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	a := producerids.New(&blocks{count: 3})
	var mutex sync.Mutex
	seen := map[int64]bool{}
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			id, err := a.Next(t.Context())
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil || seen[id] {
				t.Errorf("id %d came twice, or %v", id, err)
			}
			seen[id] = true
		})
	}
	work.Wait()
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	source := &blocks{count: 3, err: broken}
	a := producerids.New(source)
	if _, err := a.Next(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	source.err = nil
	if id, err := a.Next(t.Context()); err != nil || id != 100 {
		t.Errorf("after a failure: %d, %v", id, err)
	}
	if _, err := producerids.New(&blocks{}).Next(t.Context()); !errors.Is(err, producerids.ErrEmptyBlock) {
		t.Errorf("empty block: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &blocks{count: 3, gate: make(chan struct{})}
		a := producerids.New(source)
		go func() { _, _ = a.Next(context.Background()) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		close(source.gate)
	})
}
