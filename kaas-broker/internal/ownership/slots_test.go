package ownership_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const slotCount = 3

// slotBubble is a bubble whose manager has slots too. prepare runs before the manager does.
func slotBubble(t *testing.T, prepare func(b *bench), test func(b *bench)) {
	t.Helper()
	var b *bench
	slots := &ownership.Slots{Count: slotCount, Config: storage.DefaultConfig(), Open: func(slot int) (vfs.Dir, error) {
		return b.fs.OpenDir("slots/" + strconv.Itoa(slot))
	}}
	bubbleBefore(t, ownership.Options{Slots: slots}, func(made *bench) {
		b = made
		for slot := range slotCount {
			path := "slots/" + strconv.Itoa(slot)
			must(t, b.fs.MkdirAll(path))
			dir, err := b.fs.OpenDir(path)
			must(t, err)
			must(t, errors.Join(storage.InitPartition(dir, 0), dir.Close()))
		}
		prepare(b)
	}, test)
}

func TestSlotsAreTakenWithoutBeingAskedFor(t *testing.T) {
	slotBubble(t, func(*bench) {}, func(b *bench) {
		topic := b.publish("events", 2)
		_, err := b.now(topic, 1)
		must(t, err)
		h := b.Health()
		if h.Slots.Served != slotCount || h.Slots.Assigned != slotCount || h.Served != 2 || h.Assigned != 2 {
			t.Errorf("health %+v", h)
		}
	})
}

func TestAcquireWaitsOverFailures(t *testing.T) {
	broken := true
	slotBubble(t, func(b *bench) {
		b.onFile(func(op vfs.Op) error {
			if _, claim := claims(op); claim && broken {
				return errDisk
			}
			return nil
		})
	}, func(b *bench) {
		short, cancel := context.WithTimeout(b.t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := b.Acquire(short, 1); !errors.Is(err, ownership.ErrTakingOver) {
			t.Errorf("with a broken disk: %v", err)
		}
		if h := b.Health(); len(h.Slots.Failed) != slotCount || h.Slots.Failed[0].Partition != "coordinator-0" || len(h.Failed) != 0 {
			t.Errorf("health %+v", h)
		}
		broken = false
		p, err := b.Acquire(b.t.Context(), 1)
		must(t, err)
		must(t, write(t, p))
	})
}

func TestAcquireFollowsANewLeadership(t *testing.T) {
	slotBubble(t, func(*bench) {}, func(b *bench) {
		first, err := b.Acquire(b.t.Context(), 2)
		must(t, err)
		dir, err := b.fs.OpenDir("slots/2")
		must(t, err)
		thief, err := b.engine.Take(b.t.Context(), dir, storage.TakeOptions{Label: "thief", Volume: b.volume, Config: storage.DefaultConfig()})
		must(t, err)
		if err := write(t, first); !errors.Is(err, storage.ErrFenced) {
			t.Fatalf("write after the theft: %v", err)
		}
		second, err := b.Acquire(b.t.Context(), 2)
		must(t, err)
		if second.Epoch() <= thief.Epoch() {
			t.Errorf("epoch %d after %d", second.Epoch(), thief.Epoch())
		}
		thief.Abandon()
	})
}

func TestSlotsAreHandedOver(t *testing.T) {
	slotBubble(t, func(*bench) {}, func(b *bench) {
		p, err := b.Acquire(b.t.Context(), 0)
		must(t, err)
		must(t, b.Shutdown(context.Background()))
		if err := p.Err(); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("after the shutdown: %v", err)
		}
		if _, err := b.Acquire(b.t.Context(), 0); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("acquire after the shutdown: %v", err)
		}
	})
}

func TestAcquireOfAnUnknownSlot(t *testing.T) {
	slotBubble(t, func(*bench) {}, func(b *bench) {
		for _, slot := range []int{-1, slotCount} {
			if _, err := b.Acquire(b.t.Context(), slot); !errors.Is(err, ownership.ErrUnknownPartition) {
				t.Errorf("slot %d: %v", slot, err)
			}
		}
	})
}
