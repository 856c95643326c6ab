package slot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestOf(t *testing.T) {
	// The slot of an id is written into every cluster: it must never change. Reference values of FNV-1a with 32 bits.
	for id, want := range map[string]int{"": 0x811c9dc5 % 4, "a": 0xe40c292c % 4, "foobar": 0xbf9cf968 % 4} {
		if got := slot.Of(id, 4); got != want {
			t.Errorf("slot of %q is %d, want %d", id, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, found := v.open(slot.Options{})
	equal(t, found, state{})
	want := state{}
	for _, key := range []slot.Key{
		slot.OffsetKey("g", "t", 3),
		slot.OffsetKey("", "t", 3),
		slot.OffsetKey("a/b\\c\"d\n😀", "t", 3),
		slot.OffsetKey(strings.Repeat("x", 1000), "t", 1<<31-1),
		slot.PendingKey("g", 1<<62, "t", 3),
		slot.PendingKey("g", 0, "t", 3),
		slot.GroupKey("g"),
		slot.TransactionKey("g"),
		slot.MarkerKey(17),
	} {
		want[key] = `{"version":1}`
		put(t, s, key, want[key])
	}
	removed := slot.GroupKey("gone")
	put(t, s, removed, `{"version":1}`)
	s.Lock()
	pending, err := s.Append(slot.Record{Key: removed}, slot.Record{Key: slot.GroupKey("never")})
	s.Unlock()
	must(t, err)
	must(t, pending.Wait(context.Background()))
	s.Close()
	p.Abandon()
	_, _, found = v.open(slot.Options{})
	equal(t, found, want)
}

// A record can be read by people, and by later versions: its form is part of the format.
func TestRecordsAreReadable(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, _ := v.open(slot.Options{})
	keys := map[string]slot.Key{
		`{"kind":"offset","id":"g","topic":"t","partition":3}`:                    slot.OffsetKey("g", "t", 3),
		`{"kind":"pending","id":"g","producer_id":9,"topic":"t","partition":3}`:   slot.PendingKey("g", 9, "t", 3),
		`{"kind":"group","id":"é \"g\""}`:                                         slot.GroupKey(`é "g"`),
		`{"kind":"transaction","id":"tx"}`:                                        slot.TransactionKey("tx"),
		`{"kind":"marker","producer_id":9}`:                                       slot.MarkerKey(9),
		`{"kind":"offset","id":"\u003cg\u003eé\ufffd","topic":"t","partition":0}`: slot.OffsetKey("<g>é\xff", "t", 0),
	}
	for _, key := range keys {
		put(t, s, key, `{"version":1}`)
	}
	section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1 << 20})
	must(t, err)
	defer section.Release()
	data := make([]byte, section.Size())
	_, err = section.ReadAt(data, 0)
	must(t, err)
	for len(data) > 0 {
		b, rest, err := batch.Next(data)
		must(t, err)
		for r, err := range b.Records(nil, batch.SiteTool, 0) {
			must(t, err)
			if _, known := keys[string(r.Key)]; !known {
				t.Errorf("key %s", r.Key)
			}
			delete(keys, string(r.Key))
		}
		data = rest
	}
	if len(keys) > 0 {
		t.Errorf("missing: %v", keys)
	}
}

func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	cases := []struct {
		name, key, value string
		apply            func(slot.Record, int64) error
		want             error
	}{
		{"another kind", `{"kind":"share","id":"g"}`, `{"version":1}`, state{}.apply, storage.ErrFutureVersion},
		{"another field", `{"kind":"group","id":"g","epoch":1}`, `{"version":1}`, state{}.apply, slot.ErrCorrupt},
		{"no JSON", `group`, `{"version":1}`, state{}.apply, slot.ErrCorrupt},
		{"null key", ``, `{"version":1}`, state{}.apply, slot.ErrCorrupt},
		{"another version", `{"kind":"group","id":"g"}`, `{"version":2}`, func(r slot.Record, _ int64) error {
			return slot.CheckVersion(r.Key.Kind, 2)
		}, storage.ErrFutureVersion},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := newVolume(t, vfs.NewMem(64<<20))
			p := v.take(3)
			builder := batch.NewBuilder()
			builder.Add(1, []byte(c.key), []byte(c.value))
			b, err := builder.Build()
			must(t, err)
			ticket, err := p.Append(b, storage.AppendOptions{})
			must(t, err)
			must(t, ticket.WaitDurable(context.Background()))
			s, err := slot.Open(context.Background(), p, c.apply, slot.Options{})
			if s != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "offset 0") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestVersionErrorNamesBoth(t *testing.T) {
	err := slot.CheckVersion(slot.KindOffset, 2)
	var version *slot.VersionError
	if !errors.As(err, &version) || version.Version != 2 || !strings.Contains(err.Error(), "offset record has version 2, known is 1") {
		t.Errorf("got %v", err)
	}
	if err := slot.CheckVersion(slot.KindOffset, slot.Version); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestBarrierWaitsForWhatWasAppended(t *testing.T) {
	release := make(chan struct{})
	held := make(chan struct{}, 100)
	var hold atomic.Bool
	fault := vfs.NewFault(vfs.NewMem(64<<20), func(op vfs.Op) error {
		if hold.Load() && op.Kind == vfs.OpSync && !op.After {
			held <- struct{}{}
			<-release
		}
		return nil
	})
	v := newVolume(t, fault)
	s, _, _ := v.open(slot.Options{})
	s.Lock()
	must(t, s.Barrier().Wait(context.Background())) // nothing was appended yet
	hold.Store(true)
	_, err := s.Append(slot.Record{Key: numbered(1), Value: []byte("{}")})
	must(t, err)
	barrier := s.Barrier()
	s.Unlock()
	<-held
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := barrier.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("barrier before the sync: %v", err)
	}
	close(release)
	must(t, barrier.Wait(context.Background()))
}

func TestSecondLeaderFences(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	first, _, _ := v.open(slot.Options{})
	put(t, first, numbered(1), valueOf(1))
	second, _, found := v.open(slot.Options{})
	equal(t, found, state{numbered(1): valueOf(1)})
	first.Lock()
	pending, err := first.Append(slot.Record{Key: numbered(2), Value: []byte(valueOf(2))})
	first.Unlock()
	if err == nil {
		err = pending.Wait(context.Background())
	}
	if !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("append of a fenced leader: %v", err)
	}
	<-first.Done()
	if !errors.Is(first.Err(), storage.ErrFenced) || !errors.Is(first.Confirm(context.Background(), time.Now()), storage.ErrFenced) {
		t.Errorf("fenced leader: %v", first.Err())
	}
	put(t, second, numbered(3), valueOf(3))
}

func TestClosedSlotTakesNothing(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, _ := v.open(slot.Options{})
	s.Close()
	s.Lock()
	defer s.Unlock()
	if _, err := s.Append(slot.Record{Key: numbered(1), Value: []byte("{}")}); !errors.Is(err, slot.ErrClosed) {
		t.Errorf("append: %v", err)
	}
	if p.Err() != nil {
		t.Errorf("the partition ended with the slot: %v", p.Err())
	}
}

func TestEnsureSlots(t *testing.T) {
	open := func(t *testing.T, filesystem vfs.FS) vfs.Dir {
		t.Helper()
		must(t, filesystem.MkdirAll("c"))
		dir, err := filesystem.OpenDir("c")
		must(t, err)
		return dir
	}
	stamp := func(t *testing.T, dir vfs.Dir, text string) {
		t.Helper()
		must(t, vfs.WriteFileAtomic(dir, "coordinator.json", []byte(text)))
	}
	t.Run("twice", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		for range 2 {
			if count, err := slot.EnsureSlots(dir, 4, 3); err != nil || count != 4 {
				t.Errorf("%d slots, %v", count, err)
			}
		}
		text, err := vfs.ReadFile(dir, "coordinator.json", 100)
		if err != nil || string(text) != `{"version":1,"slots":4}`+"\n" {
			t.Errorf("stamp %s, %v", text, err)
		}
		entries, err := dir.List()
		if err != nil || len(entries) != 4+1 {
			t.Errorf("%d entries, %v", len(entries), err)
		}
	})
	t.Run("lost slot", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		stamp(t, dir, `{"version":1,"slots":4}`)
		if _, err := slot.EnsureSlots(dir, 4, 0); !errors.Is(err, slot.ErrIncomplete) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another version", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		stamp(t, dir, `{"version":2,"slots":4}`)
		if _, err := slot.EnsureSlots(dir, 4, 0); !errors.Is(err, storage.ErrFutureVersion) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the number that was stamped counts", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		for _, want := range []int{50, 4} {
			if count, err := slot.EnsureSlots(dir, want, 0); err != nil || count != 50 {
				t.Errorf("%d slots, %v", count, err)
			}
		}
	})
	t.Run("impossible counts", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		for _, count := range []int{0, slot.MaxCount + 1} {
			if _, err := slot.EnsureSlots(dir, count, 0); err == nil {
				t.Errorf("%d slots are made", count)
			}
			stamp(t, dir, fmt.Sprintf(`{"version":1,"slots":%d}`, count))
			if _, err := slot.EnsureSlots(dir, 4, 0); !errors.Is(err, slot.ErrCorrupt) {
				t.Errorf("a stamp with %d slots: %v", count, err)
			}
			must(t, dir.Remove("coordinator.json"))
		}
	})
	t.Run("no JSON", func(t *testing.T) {
		dir := open(t, vfs.NewMem(64<<20))
		stamp(t, dir, `4`)
		if _, err := slot.EnsureSlots(dir, 4, 0); !errors.Is(err, slot.ErrCorrupt) {
			t.Errorf("got %v", err)
		}
	})
}

// A crash at any file call leaves slots that the next start makes whole: all of them can be led, whether their stamp is there already or not.
func TestEnsureSlotsAfterACrash(t *testing.T) {
	failure := errors.New("power cut")
	for at := 1; ; at++ {
		crash := vfs.NewCrash(64 << 20)
		calls, armed := 0, false
		filesystem := vfs.NewFault(crash, func(op vfs.Op) error {
			if armed && !op.After {
				if calls++; calls >= at {
					return failure
				}
			}
			return nil
		})
		must(t, filesystem.MkdirAll("__coordinator"))
		dir, err := filesystem.OpenDir("__coordinator")
		must(t, err)
		armed = true
		_, err = slot.EnsureSlots(dir, slot.DefaultCount, 0)
		survivors := []vfs.Choice{vfs.SurviveNone, vfs.SurviveAll}
		for i := range crash.Pending() {
			survivors = append(survivors, vfs.SurviveOnly(i), vfs.SurviveSeeded(uint64(i)))
		}
		for which, survive := range survivors {
			v := newVolume(t, crash.PowerCut(survive))
			for number := range slot.DefaultCount {
				if _, err := v.tryTake(number); err != nil {
					t.Fatalf("slot %d after a crash at call %d, survivors %d: %v", number, at, which, err)
				}
			}
		}
		if calls < at {
			must(t, err)
			t.Logf("%d calls", calls)
			return
		}
	}
}

// FuzzStamp makes slots where any stamp is: as many as it says are there, or an error says why not.
func FuzzStamp(f *testing.F) {
	f.Add(`{"version":1,"slots":4}`)
	f.Add(`{"version":1,"slots":5}`)
	f.Add(`{"version":2,"slots":4}`)
	f.Add(`{"version":1,"slots":-1}`)
	f.Fuzz(func(t *testing.T, text string) {
		filesystem := vfs.NewMem(64 << 20)
		must(t, filesystem.MkdirAll("c"))
		dir, err := filesystem.OpenDir("c")
		must(t, err)
		_, err = slot.EnsureSlots(dir, 4, 0)
		must(t, err)
		must(t, vfs.WriteFileAtomic(dir, "coordinator.json", []byte(text)))
		count, err := slot.EnsureSlots(dir, 4, 0)
		documented := errors.Is(err, slot.ErrIncomplete) || errors.Is(err, slot.ErrCorrupt) || errors.Is(err, storage.ErrFutureVersion) || errors.Is(err, vfs.ErrLimit)
		if err != nil && !documented || err == nil && (count < 1 || count > 4) {
			t.Fatalf("%d slots by the stamp %q, %v", count, text, err)
		}
	})
}

// What is removed at once may be any number of keys with ids of 32 KiB: no batch of them is larger than a few of these.
func TestRemovalsAreSplit(t *testing.T) {
	v := newVolume(t, vfs.NewMem(64<<20))
	s, p, _ := v.open(slot.Options{TrimBytes: 1 << 40})
	long := strings.Repeat("g", 32<<10-1)
	var removals []slot.Record
	for i := range int32(100) {
		key := slot.OffsetKey(long, "t", i)
		put(t, s, key, valueOf(int(i)))
		removals = append(removals, slot.Record{Key: key})
	}
	s.Lock()
	for piece := range slot.Pieces(removals) {
		_, err := s.Append(piece...)
		must(t, err)
	}
	rests := s.Barrier()
	s.Unlock()
	must(t, rests.Wait(t.Context()))
	for at := int64(0); at < p.Offsets().HighWatermark; {
		section, err := p.Read(at, storage.ReadOptions{MaxBytes: 1, AtLeastOneBatch: true})
		must(t, err)
		b := make(batch.Batch, section.Size())
		_, err = section.ReadAt(b, 0)
		must(t, err)
		section.Release()
		if len(b) > 1200<<10 {
			t.Errorf("the batch at offset %d has %d bytes", at, len(b))
		}
		at = b.LastOffset() + 1
	}
	s.Close()
	p.Abandon()
	_, _, found := v.open(slot.Options{})
	equal(t, found, state{})
}
