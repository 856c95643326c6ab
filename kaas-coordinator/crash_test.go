package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// promises are what a coordinator has acknowledged.
type promises struct {
	committed int64 // of group "plain"
	members   int64 // of group "members", by its member
	member    *group.Identity
	deleted   bool // group "doomed"
}

// work asks for all kinds of changes until one fails, and returns what was acknowledged.
func work(p *process) (done promises) {
	ctx := context.Background()
	if p.commit("doomed", commitOf("t", 0, 1)) != nil {
		return done
	}
	joined, err := p.Join(ctx, "members", joining("i"))
	if err != nil {
		return done
	}
	member := group.Identity{MemberID: joined.MemberID, InstanceID: joining("i").InstanceID, Generation: joined.Generation}
	if _, err := p.Sync(ctx, "members", group.SyncRequest{
		Identity: member, Assignments: []group.Assignment{{MemberID: member.MemberID, Data: []byte("all")}},
	}); err != nil {
		return done
	}
	done.member = &member
	for n := int64(1); n <= 4; n++ {
		if p.commit("plain", commitOf("t", 0, n)) != nil {
			return done
		}
		done.committed = n
		if p.commitAs("members", member, commitOf("t", 0, n)) != nil {
			return done
		}
		done.members = n
		if n == 2 {
			if p.Delete(ctx, "doomed") != nil {
				return done
			}
			done.deleted = true
		}
	}
	return done
}

// holds checks that what was acknowledged is there after a crash, and that at most one change more is.
func (done promises) holds(t *testing.T, step int64, p *process) {
	t.Helper()
	ctx := context.Background()
	for id, want := range map[string]int64{"plain": done.committed, "members": done.members} {
		got := max(p.fetch(id, at("t", 0)).Offset, 0)
		if got < want || got > want+1 {
			t.Errorf("step %d: %s is at %d, acknowledged was %d", step, id, got, want)
		}
	}
	if done.member != nil {
		result, err := p.Sync(ctx, "members", group.SyncRequest{Identity: *done.member})
		if err != nil || string(result.Assignment) != "all" {
			t.Errorf("step %d: member was assigned %q, %v", step, result.Assignment, err)
		}
	}
	if done.deleted {
		if d, err := p.Describe(ctx, "doomed"); err != nil || d.State != group.Dead {
			t.Errorf("step %d: deleted group is %v, %v", step, d.State, err)
		}
	}
	if _, err := p.DeleteOffsets(ctx, "plain", []offset.Partition{at("t", 0)}); err != nil && !errors.Is(err, coordinator.ErrGroupNotFound) {
		t.Errorf("step %d: the slot takes nothing: %v", step, err)
	}
}

// TestCrashAtEveryCall ends the power at each call to the file system, from the takeover on, and looks at what a later coordinator finds.
func TestCrashAtEveryCall(t *testing.T) {
	prepared := vfs.NewCrash(64 << 20)
	prepare(t, prepared)
	ids := []string{"plain", "members", "doomed"}
	cut := errors.New("power cut")
	for step := int64(1); ; step++ {
		ended := false
		synctest.Test(t, func(t *testing.T) {
			crash := prepared.PowerCut(vfs.SurviveAll)
			fuse := newFuse(step, cut)
			p := begin(t, vfs.NewFault(crash, fuse.hook), coordinator.Options{}, ids...)
			synctest.Wait()
			done := work(p)
			choices := []vfs.Choice{vfs.SurviveNone, vfs.SurviveAll}
			for i := range crash.Pending() {
				choices = append(choices, vfs.SurviveOnly(i), vfs.SurviveSeeded(uint64(step)<<8+uint64(i)))
			}
			var cuts []*vfs.Crash
			for _, survive := range choices {
				cuts = append(cuts, crash.PowerCut(survive))
			}
			// What the process does to the dead file system no longer counts.
			p.stop()
			for _, after := range cuts {
				second := start(t, after, coordinator.Options{}, ids...)
				done.holds(t, step, second)
				second.stop()
			}
			ended = !fuse.blown()
			if ended && (done.committed != 4 || !done.deleted) {
				t.Errorf("without a crash only %+v was done", done)
			}
		})
		if ended || t.Failed() {
			return
		}
	}
}
