package group_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// host keeps the snapshots of one group in memory.
type host struct {
	sync.Mutex
	stored  []group.Snapshot
	failure error
}

func (h *host) Store(_ string, s group.Snapshot) error {
	if h.failure == nil {
		h.stored = append(h.stored, s)
	}
	return h.failure
}

func (*host) Barrier() slot.Pending { return slot.Pending{} }

// world is a live group under its lock.
type world struct {
	t    *testing.T
	host host
	work sync.WaitGroup
	live *group.Live
}

func newWorld(t *testing.T) *world {
	w := &world{t: t}
	w.live = group.NewLive(w.options())
	return w
}

func (w *world) options() group.LiveOptions {
	return group.LiveOptions{ID: "g", Config: group.DefaultConfig(), Host: &w.host, Work: &w.work}
}

func (w *world) locked(f func()) {
	w.host.Lock()
	defer w.host.Unlock()
	f()
}

func (w *world) join(memberID string) *group.Parked[group.JoinResult] {
	var parked *group.Parked[group.JoinResult]
	w.locked(func() {
		parked = w.live.Join(group.JoinRequest{
			MemberID: memberID, ClientID: "c", ProtocolType: "consumer", Protocols: []group.Protocol{{Name: "range"}},
			SessionTimeout: 10 * time.Second, RebalanceTimeout: 30 * time.Second,
		})
	})
	return parked
}

func (w *world) sync(r group.JoinResult) group.SyncResult {
	w.t.Helper()
	var parked *group.Parked[group.SyncResult]
	w.locked(func() {
		parked = w.live.Sync(group.SyncRequest{Identity: group.Identity{MemberID: r.MemberID, Generation: r.Generation}})
	})
	return wait(w.t, parked)
}

func (w *world) state() (s group.State) {
	w.locked(func() { s = w.live.Machine().State() })
	return s
}

func wait[T any](t *testing.T, parked *group.Parked[T]) T {
	t.Helper()
	answer, err := parked.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return answer.Result
}

func TestLiveSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		joined := wait(t, w.join(""))
		began := time.Now()
		w.sync(joined)
		member := group.Identity{MemberID: joined.MemberID, Generation: 1}
		// Heartbeats of any rhythm keep the member; what a commit says counts as one.
		for i := range 20 {
			time.Sleep(time.Duration(i%10) * 999 * time.Millisecond)
			w.locked(func() {
				if err := w.live.Heartbeat(member); err != nil {
					t.Errorf("heartbeat: %v", err)
				}
			})
		}
		time.Sleep(9 * time.Second)
		w.locked(func() {
			if err := w.live.CheckCommit(member, false); err != nil {
				t.Errorf("commit: %v", err)
			}
		})
		time.Sleep(10*time.Second - time.Nanosecond)
		if s := w.state(); s != group.Stable {
			t.Errorf("%v before the session's end", s)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if s := w.state(); s != group.Empty {
			t.Errorf("%v at the session's end", s)
		}
		w.locked(func() {
			if since := w.live.Since(); since != time.Now() || since.Sub(began) < time.Minute {
				t.Errorf("empty since %v", since)
			}
			if n := len(w.host.stored); n != 2 || w.host.stored[1].Since != time.Now().UnixMilli() {
				t.Errorf("stored %d times, %+v", n, w.host.stored[n-1])
			}
		})
		w.work.Wait()
	})
}

func TestLiveMemberWhoDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		first := wait(t, w.join(""))
		w.sync(first)
		parked := w.join("")
		began := time.Now()
		joined := wait(t, parked)
		// The silent member's session ends before the time for joining.
		if took := time.Since(began); took != 10*time.Second || joined.Leader != joined.MemberID {
			t.Errorf("waited %v and joined as %+v", took, joined)
		}
		w.locked(func() { w.live.Close(group.ErrNotAvailable) })
		w.work.Wait()
	})
}

func TestLiveClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		parked := w.join("")
		failure := errors.New("moved")
		w.locked(func() { w.live.Close(failure) })
		if got := wait(t, parked); !errors.Is(got.Err, failure) {
			t.Errorf("parked join: %+v", got)
		}
		w.work.Wait() // no timer is left
		if got := wait(t, w.join("")); !errors.Is(got.Err, group.ErrNotAvailable) {
			t.Errorf("join after the end: %+v", got)
		}
		w.work.Wait()
	})
}

// What the slot refuses to store is not answered as if it were stored, and the group begins anew.
func TestLiveStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		joined := wait(t, w.join(""))
		w.locked(func() { w.host.failure = errors.New("full") })
		if got := w.sync(joined); !errors.Is(got.Err, group.ErrNotAvailable) {
			t.Errorf("sync: %+v", got)
		}
		if s := w.state(); s != group.PreparingRebalance {
			t.Errorf("group is %v", s)
		}
		w.locked(func() { w.host.failure = nil })
		again := wait(t, w.join(joined.MemberID))
		if got := w.sync(again); got.Err != nil || again.Generation != 2 {
			t.Errorf("joined as %+v, sync: %+v", again, got)
		}
		w.locked(func() { w.live.Close(group.ErrNotAvailable) })
	})
}

func TestLiveWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		parked := w.join("")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := parked.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		// To the group the member is there.
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if s := w.state(); s != group.CompletingRebalance {
			t.Errorf("group is %v", s)
		}
		w.locked(func() { w.live.Close(group.ErrNotAvailable) })
	})
}

func TestRestoredSessionsBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.sync(wait(t, w.join("")))
		w.locked(func() { w.live.Close(group.ErrNotAvailable) })
		time.Sleep(time.Hour)
		restored := &world{t: t}
		restored.locked(func() { restored.live = group.RestoreLive(restored.options(), w.host.stored[0]) })
		time.Sleep(9 * time.Second)
		if s := restored.state(); s != group.Stable {
			t.Errorf("group is %v", s)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s := restored.state(); s != group.Empty {
			t.Errorf("group is %v", s)
		}
	})
}
