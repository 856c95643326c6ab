package slot_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// fill leaves 30 live keys, each written many times, and some that are gone.
func fill(t testing.TB, s *slot.Slot, rounds int) state {
	t.Helper()
	want := state{}
	for round := range rounds {
		var records []slot.Record
		for i := range 40 {
			key, value := numbered(i), valueOf(1000*round+i)
			if i >= 30 && round == rounds-1 {
				records = append(records, slot.Record{Key: key})
				delete(want, key)
				continue
			}
			records = append(records, slot.Record{Key: key, Value: []byte(value)})
			want[key] = value
		}
		s.Lock()
		pending, err := s.Append(records...)
		s.Unlock()
		must(t, err)
		must(t, pending.Wait(context.Background()))
	}
	return want
}

func TestTrimKeepsTheState(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, _ := v.open(slot.Options{TrimBytes: 1 << 40})
	want := fill(t, s, 10)
	end := p.Offsets().LogEnd
	must(t, s.Trim(context.Background()))
	if start := p.Offsets().LogStart; start != end {
		t.Fatalf("log starts at %d, want %d", start, end)
	}
	if left := p.Offsets().LogEnd - end; left != 30 {
		t.Fatalf("%d records were carried over, want the 30 that are live", left)
	}
	s.Close()
	p.Abandon()
	_, _, found := v.open(slot.Options{})
	equal(t, found, want)
}

func TestTrimsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVolume(t, vfs.NewMem(64<<20))
		s, p, _ := v.open(slot.Options{TrimBytes: 32 << 10})
		want := fill(t, s, 200)
		synctest.Wait()
		s.Close()
		p.Abandon()
		_, p, found := v.open(slot.Options{})
		equal(t, found, want)
		if kept := p.Offsets().LogEnd - p.Offsets().LogStart; kept > 2000 {
			t.Errorf("%d records of 8,000 are left", kept)
		}
	})
}

// Changes go on while the log is trimmed: what was written last must win over what is carried over.
func TestTrimRacesWithAppends(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, _ := v.open(slot.Options{TrimBytes: 1 << 40})
	want := fill(t, s, 20)
	done := make(chan error, 1)
	go func() {
		var err error
		for range 10 {
			err = errors.Join(err, s.Trim(context.Background()))
		}
		done <- err
	}()
	for i := range 300 {
		key := numbered(i % 40)
		if i%7 == 0 {
			s.Lock()
			_, err := s.Append(slot.Record{Key: key})
			s.Unlock()
			must(t, err)
			delete(want, key)
			continue
		}
		want[key] = valueOf(100000 + i)
		put(t, s, key, want[key])
	}
	must(t, <-done)
	s.Close()
	must(t, p.Handover(context.Background()))
	_, _, found := v.open(slot.Options{})
	equal(t, found, want)
}

// Whatever file operation a crash prevents, the next leader finds the same state.
func TestCrashWhileTrimming(t *testing.T) {
	failure := errors.New("power cut")
	for step := int64(1); ; step++ {
		crash := vfs.NewCrash(64 << 20)
		var steps atomic.Int64
		var counting, failed atomic.Bool
		v := newVolume(t, vfs.NewFault(crash, func(op vfs.Op) error {
			if counting.Load() && !op.After && steps.Add(1) >= step {
				failed.Store(true)
				return failure
			}
			return nil
		}))
		s, p, _ := v.open(slot.Options{TrimBytes: 1 << 40})
		want := fill(t, s, 5)
		counting.Store(true)
		err := s.Trim(context.Background())
		s.Close()
		p.Abandon()
		<-p.Closed()
		counting.Store(false)
		if !failed.Load() {
			must(t, err)
		}
		for seed := range uint64(3) {
			after := &volume{t: t, fs: crash.PowerCut(vfs.SurviveSeeded(seed)), engine: v.engine}
			s, p, found := after.open(slot.Options{})
			equal(t, found, want)
			put(t, s, numbered(1), valueOf(7))
			s.Close()
			p.Abandon()
		}
		if !failed.Load() {
			break
		}
		if step > 500 {
			t.Fatal("trimming never ends")
		}
	}
}

func TestTrimOfAFencedLeader(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	first, _, _ := v.open(slot.Options{TrimBytes: 1 << 40})
	want := fill(t, first, 5)
	_, p, _ := v.open(slot.Options{TrimBytes: 1 << 40})
	if err := first.Trim(context.Background()); !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("trim: %v", err)
	}
	if start := p.Offsets().LogStart; start != 0 {
		t.Fatalf("a fenced leader moved the log start to %d", start)
	}
	_, _, found := v.open(slot.Options{})
	equal(t, found, want)
}
