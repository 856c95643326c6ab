package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// answers asks everything and returns the errors by name.
func answers(p *process, id string) map[string]error {
	ctx := context.Background()
	who := group.Identity{MemberID: "m", Generation: 1}
	got := map[string]error{"status": p.Status(id), "commit": p.commit(id, commitOf("t", 0, 1)), "heartbeat": p.Heartbeat(ctx, id, who)}
	_, got["join"] = p.Join(ctx, id, joining(""))
	_, got["sync"] = p.Sync(ctx, id, group.SyncRequest{Identity: who})
	_, got["leave"] = p.Leave(ctx, id, nil)
	_, got["fetch"] = p.Fetch(ctx, id, coordinator.FetchRequest{})
	_, got["describe"] = p.Describe(ctx, id)
	got["delete"] = p.Delete(ctx, id)
	_, got["delete offsets"] = p.DeleteOffsets(ctx, id, nil)
	return got
}

func TestNotTheCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g")
		for name, err := range answers(p, "elsewhere") {
			if !errors.Is(err, coordinator.ErrNotCoordinator) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := holding(vfs.OpReadAt)
		fault := vfs.NewFault(prepared(t), reads.hook)
		p := start(t, fault, coordinator.Options{}, "g")
		must(t, p.commit("g", commitOf("t", 0, 1)))
		p.stop()
		p = beginWith(t, fault, nil, coordinator.Options{}, reads.shut, "g")
		synctest.Wait()
		for name, err := range answers(p, "g") {
			want := coordinator.ErrLoading
			switch name {
			case "heartbeat":
				want = nil // sessions begin anew with the slot
			case "sync":
				want = group.ErrRebalancing
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
		if list, err := p.List(context.Background()); err != nil || len(list) != 0 {
			t.Errorf("list: %v, %v", list, err)
		}
		reads.open()
		synctest.Wait()
		if got := p.fetch("g", at("t", 0)); got.Offset != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRecordsOfALaterVersionAreNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		writer := begin(t, filesystem, coordinator.Options{})
		partition, err := writer.take(context.Background(), slot.Of("g", slot.DefaultCount))
		must(t, err)
		s, err := slot.Open(context.Background(), partition, func(slot.Record, int64) error { return nil }, slot.Options{})
		must(t, err)
		s.Lock()
		pending, err := s.Append(slot.Record{Key: slot.GroupKey("g"), Value: []byte(`{"version":2}`)})
		s.Unlock()
		must(t, err)
		must(t, pending.Wait(context.Background()))
		s.Close()
		writer.stop()
		p := begin(t, filesystem, coordinator.Options{}, "g")
		synctest.Wait()
		wants(t, p.Status("g"), coordinator.ErrNotCoordinator)
		problems := p.Problems()
		if len(problems) != 1 || problems[0].Slot != slot.Of("g", slot.DefaultCount) {
			t.Fatalf("problems: %v", problems)
		}
		wants(t, problems[0].Err, storage.ErrFutureVersion)
		p.stop()
		if problems := p.Problems(); len(problems) != 0 {
			t.Errorf("problems after the end: %v", problems)
		}
	})
}

// Whoever waits for the others to join is sent to the next coordinator when the slot is lost.
func TestParkedRequestsOfALostSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		first := start(t, filesystem, coordinator.Options{}, "g")
		done := make(chan error, 1)
		go func() {
			_, err := first.Join(context.Background(), "g", joining(""))
			done <- err
		}()
		synctest.Wait()
		second := start(t, filesystem, coordinator.Options{}, "g")
		// The first learns of it with the next check.
		_, err := first.Fetch(context.Background(), "g", coordinator.FetchRequest{})
		wants(t, err, coordinator.ErrNotCoordinator)
		wants(t, <-done, coordinator.ErrNotCoordinator)
		must(t, second.commit("g", commitOf("t", 0, 1)))
		synctest.Wait()
		for name, err := range answers(first, "g") {
			if !errors.Is(err, coordinator.ErrNotCoordinator) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A wait that its caller gives up is no failure of the slot.
func TestEndOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := p.Join(ctx, "g", joining(""))
		if !errors.Is(err, context.Canceled) || errors.Is(err, coordinator.ErrNotCoordinator) {
			t.Errorf("join: %v", err)
		}
		must(t, p.Status("g"))
	})
}

// While many commit, a second owner takes the slots. Nothing that was acknowledged is lost, and nothing that began when the second already
// served is acknowledged by the first.
func TestTakeoverWhileCommitsAreInFlight(t *testing.T) {
	filesystem := vfs.NewMem(256 << 20)
	prepare(t, filesystem)
	var ids []string
	for i := range 8 {
		ids = append(ids, fmt.Sprintf("g%d", i))
	}
	first := begin(t, filesystem, coordinator.Options{}, ids...)
	waitServed(t, first, ids)
	var fenced atomic.Bool
	var work sync.WaitGroup
	acknowledged := make([]int64, len(ids))
	enough := make(chan struct{}, len(ids))
	for i, id := range ids {
		work.Go(func() {
			for n := int64(1); ; n++ {
				late := fenced.Load()
				err := first.commit(id, commitOf("t", 0, n))
				if err != nil {
					if !errors.Is(err, coordinator.ErrNotCoordinator) {
						t.Errorf("group %s: %v", id, err)
					}
					return
				}
				if late {
					t.Errorf("group %s: commit %d was acknowledged after the fence", id, n)
				}
				acknowledged[i] = n
				if n == 20 {
					enough <- struct{}{}
				}
			}
		})
	}
	for range ids {
		<-enough
	}
	second := begin(t, filesystem, coordinator.Options{}, ids...)
	waitServed(t, second, ids)
	fenced.Store(true)
	work.Wait()
	for i, id := range ids {
		got := second.fetch(id, at("t", 0)).Offset
		// One commit that was not acknowledged may be there.
		if got < acknowledged[i] || got > acknowledged[i]+1 {
			t.Errorf("group %s is at %d, acknowledged was %d", id, got, acknowledged[i])
		}
		must(t, second.commit(id, commitOf("t", 0, 1000000)))
	}
}

// waitServed waits, outside of a bubble, until the slots are served.
func waitServed(t testing.TB, p *process, ids []string) {
	t.Helper()
	for _, id := range ids {
		for p.Status(id) != nil {
			time.Sleep(time.Millisecond)
		}
	}
}

// What a full volume or a failed sync prevents is not acknowledged, and the slot is lost here.
func TestFailedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Bool
		failure := errors.New("no more")
		crash := vfs.NewCrash(64 << 20)
		fault := vfs.NewFault(crash, func(op vfs.Op) error {
			if fail.Load() && op.Kind == vfs.OpSync {
				return failure
			}
			return nil
		})
		prepare(t, fault)
		p := start(t, fault, coordinator.Options{}, "g")
		must(t, p.commit("g", commitOf("t", 0, 1)))
		fail.Store(true)
		err := p.commit("g", commitOf("t", 0, 2))
		wants(t, err, coordinator.ErrNotCoordinator)
		var storageError *storage.StorageError
		if !errors.As(err, &storageError) {
			t.Errorf("the cause is lost: %v", err)
		}
		synctest.Wait()
		wants(t, p.Status("g"), coordinator.ErrNotCoordinator)
	})
}

// The log of a slot that is written again and again stays small, and its state what it was.
func TestSlotsAreTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		p := start(t, filesystem, coordinator.Options{}, "g")
		member := p.lone("g", "i")
		must(t, p.commitAs("g", member, commitOf("once", 0, 5)))
		for n := range int64(20000) {
			must(t, p.commitAs("g", member, commitOf("t", 0, n)))
			if n%1000 == 0 {
				must(t, p.Heartbeat(context.Background(), "g", member))
			}
		}
		synctest.Wait()
		if o := p.taken[slot.Of("g", slot.DefaultCount)].Offsets(); o.LogEnd-o.LogStart > 10000 {
			t.Errorf("the log is still %+v", o)
		}
		p.stop()
		p = start(t, filesystem, coordinator.Options{}, "g")
		if p.fetch("g", at("once", 0)).Offset != 5 || p.fetch("g", at("t", 0)).Offset != 19999 {
			t.Error("offsets are lost")
		}
		must(t, p.Heartbeat(context.Background(), "g", member))
	})
}

// A full volume refuses commits and assignments, which may be tried again. The slot stays.
func TestFullVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := vfs.NewMem(16 << 20)
		volume, err := storage.OpenVolume(filesystem, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: 1 << 20})
		must(t, err)
		prepare(t, filesystem)
		p := beginOn(t, filesystem, volume, coordinator.Options{}, "g", "plain")
		synctest.Wait()
		must(t, p.commit("plain", commitOf("t", 0, 1)))
		ctx := context.Background()
		joined, err := p.Join(ctx, "g", joining(""))
		must(t, err)

		free := fill(t, filesystem)
		must(t, volume.Refresh())
		wants(t, p.commit("plain", commitOf("t", 0, 2)), group.ErrNotAvailable)
		member := group.Identity{MemberID: joined.MemberID, Generation: joined.Generation}
		_, err = p.Sync(ctx, "g", group.SyncRequest{Identity: member})
		wants(t, err, group.ErrNotAvailable)
		wants(t, p.Delete(ctx, "plain"), group.ErrNotAvailable)
		if got := p.fetch("plain", at("t", 0)); got.Offset != 1 {
			t.Errorf("a refused commit moved the offset to %d", got.Offset)
		}
		wants(t, p.Heartbeat(ctx, "g", member), group.ErrRebalancing)

		free()
		must(t, volume.Refresh())
		must(t, p.commit("plain", commitOf("t", 0, 3)))
		again := joining("")
		again.MemberID = joined.MemberID
		joined, err = p.Join(ctx, "g", again)
		must(t, err)
		member.Generation = joined.Generation
		_, err = p.Sync(ctx, "g", group.SyncRequest{Identity: member})
		must(t, err)
	})
}

// fill takes the room of a file system until nearly nothing is left, and returns how to give it back.
func fill(t testing.TB, filesystem vfs.FS) (free func()) {
	t.Helper()
	must(t, filesystem.MkdirAll("ballast"))
	dir, err := filesystem.OpenDir("ballast")
	must(t, err)
	for n := 0; ; n++ {
		usage, err := filesystem.Usage()
		must(t, err)
		if usage.Free < 450<<10 {
			break
		}
		must(t, vfs.WriteFileAtomic(dir, strconv.Itoa(n), make([]byte, 4<<10)))
	}
	return func() {
		entries, err := dir.List()
		must(t, err)
		for _, e := range entries {
			must(t, dir.Remove(e.Name))
		}
		must(t, dir.Close())
	}
}

// A removal that finds no room in its middle has taken from the memory what it has taken from the log, and goes on later.
func TestRemovalOnAVolumeThatFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const offsets = 100
		id := strings.Repeat("g", 32<<10-1)
		filesystem := vfs.NewMem(64 << 20)
		volume, err := storage.OpenVolume(filesystem, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: 1 << 20})
		must(t, err)
		prepare(t, filesystem)
		p := beginOn(t, filesystem, volume, coordinator.Options{}, id)
		synctest.Wait()
		for i := range int32(offsets) {
			must(t, p.commit(id, commitOf("t", i, 1)))
		}
		kept := func() (kept int) {
			for i := range int32(offsets) {
				if p.fetch(id, at("t", i)).Offset == 1 {
					kept++
				}
			}
			return kept
		}
		usage, err := filesystem.Usage()
		must(t, err)
		must(t, filesystem.MkdirAll("ballast"))
		ballast, err := filesystem.OpenDir("ballast")
		must(t, err)
		must(t, vfs.WriteFileAtomic(ballast, "ballast", make([]byte, usage.Free-(1<<20)-(1800<<10))))
		must(t, volume.Refresh())
		wants(t, p.Delete(t.Context(), id), group.ErrNotAvailable)
		left := kept()
		if left == 0 || left == offsets {
			t.Errorf("%d of %d offsets are left by a removal that found room for some", left, offsets)
		}
		must(t, ballast.Remove("ballast"))
		must(t, volume.Refresh())
		p.stop()
		p = beginOn(t, filesystem, volume, coordinator.Options{}, id)
		synctest.Wait()
		if again := kept(); again != left {
			t.Errorf("the log has %d offsets, the memory had %d", again, left)
		}
		must(t, p.Delete(t.Context(), id))
		if left := kept(); left != 0 {
			t.Errorf("%d offsets of a removed group are left", left)
		}
	})
}
