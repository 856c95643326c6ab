package slot_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// volume is a coordinator directory with an engine.
type volume struct {
	t      testing.TB
	fs     vfs.FS
	engine *storage.Engine
}

func newVolume(t testing.TB, filesystem vfs.FS) *volume {
	t.Helper()
	must(t, filesystem.MkdirAll("__coordinator"))
	dir, err := filesystem.OpenDir("__coordinator")
	must(t, err)
	_, err = slot.EnsureSlots(dir, slot.DefaultCount, 0)
	must(t, err)
	must(t, dir.Close())
	return &volume{t: t, fs: filesystem, engine: newEngine(t)}
}

func newEngine(t testing.TB) *storage.Engine {
	t.Helper()
	engine, err := storage.NewEngine(storage.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

func (v *volume) take(number int) *storage.Partition {
	v.t.Helper()
	p, err := v.tryTake(number)
	must(v.t, err)
	return p
}

func (v *volume) tryTake(number int) (*storage.Partition, error) {
	dir, err := v.fs.OpenDir("__coordinator/" + slot.DirName(number))
	if err != nil {
		return nil, err
	}
	return v.engine.Take(context.Background(), dir, storage.TakeOptions{Label: "__coordinator-" + strconv.Itoa(number), Config: slot.Config()})
}

// state is what a replay leaves: the value of each live key.
type state map[slot.Key]string

func (s state) apply(r slot.Record, _ int64) error {
	if r.Value == nil {
		delete(s, r.Key)
	} else {
		s[r.Key] = string(r.Value)
	}
	return nil
}

// open opens slot 3, which is closed with the test.
func (v *volume) open(o slot.Options) (*slot.Slot, *storage.Partition, state) {
	v.t.Helper()
	p := v.take(3)
	found := state{}
	s, err := slot.Open(context.Background(), p, found.apply, o)
	must(v.t, err)
	v.t.Cleanup(s.Close)
	return s, p, found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// put appends one record for each number, durably.
func put(t testing.TB, s *slot.Slot, key slot.Key, value string) {
	t.Helper()
	s.Lock()
	pending, err := s.Append(slot.Record{Key: key, Value: []byte(value)})
	s.Unlock()
	must(t, err)
	must(t, pending.Wait(context.Background()))
}

func valueOf(i int) string { return fmt.Sprintf(`{"version":1,"n":%d}`, i) }

func numbered(i int) slot.Key { return slot.OffsetKey("g", "t", int32(i)) }

func equal(t testing.TB, got, want state) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d keys, want %d", len(got), len(want))
	}
	for key, value := range want {
		if got[key] != value {
			t.Fatalf("%v is %s, want %s", key, got[key], value)
		}
	}
}
