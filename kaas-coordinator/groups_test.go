package coordinator_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestRebalanceOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g")
		ctx := context.Background()

		ask := joining("")
		ask.RequireMemberID = true
		first, err := p.Join(ctx, "g", ask)
		wants(t, err, group.ErrMemberIDRequired)
		if !regexp.MustCompile(`^client-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(first.MemberID) {
			t.Errorf("member id %s", first.MemberID)
		}
		ask.MemberID = first.MemberID
		began := time.Now()
		leader := make(chan group.JoinResult, 1)
		go func() {
			joined, err := p.Join(ctx, "g", ask)
			must(t, err)
			leader <- joined
		}()
		synctest.Wait()
		follower, err := p.Join(ctx, "g", joining("i"))
		must(t, err)
		led := <-leader
		// The initial delay of 3 s has grown once, for the second member.
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("joining took %v", took)
		}
		if led.Leader != first.MemberID || len(led.Members) != 2 || follower.Leader != first.MemberID || len(follower.Members) != 0 {
			t.Errorf("joined as %+v and %+v", led, follower)
		}

		assigned := make(chan group.SyncResult, 1)
		go func() {
			result, err := p.Sync(ctx, "g", group.SyncRequest{Identity: group.Identity{MemberID: follower.MemberID, Generation: 1}})
			must(t, err)
			assigned <- result
		}()
		synctest.Wait()
		own, err := p.Sync(ctx, "g", group.SyncRequest{
			Identity: group.Identity{MemberID: first.MemberID, Generation: 1},
			Assignments: []group.Assignment{
				{MemberID: first.MemberID, Data: []byte("one")}, {MemberID: follower.MemberID, Data: []byte("two")},
			},
		})
		must(t, err)
		if got := <-assigned; string(own.Assignment) != "one" || string(got.Assignment) != "two" || got.Protocol != "range" {
			t.Errorf("assigned %q and %q", own.Assignment, got.Assignment)
		}
		described, err := p.Describe(ctx, "g")
		must(t, err)
		if described.State != group.Stable || described.Protocol != "range" || len(described.Members) != 2 ||
			described.Members[1].ClientHost != "/127.0.0.1" || string(described.Members[1].Assignment) != "two" {
			t.Errorf("described as %+v", described)
		}

		// The leader falls silent; the follower hears of it and is alone then.
		member := group.Identity{MemberID: follower.MemberID, Generation: 1}
		for range 3 {
			must(t, p.Heartbeat(ctx, "g", member))
			time.Sleep(4 * time.Second)
		}
		wants(t, p.Heartbeat(ctx, "g", member), group.ErrRebalancing)
		wants(t, p.Heartbeat(ctx, "g", group.Identity{MemberID: first.MemberID, Generation: 1}), group.ErrUnknownMember)
		again := joining("i")
		again.MemberID = follower.MemberID
		alone, err := p.Join(ctx, "g", again)
		must(t, err)
		if alone.Generation != 2 || alone.Leader != follower.MemberID || len(alone.Members) != 1 {
			t.Errorf("joined as %+v", alone)
		}
	})
}

func TestMembersSurviveAPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := vfs.NewCrash(64 << 20)
		prepare(t, crash)
		p := start(t, crash, coordinator.Options{}, "g")
		ctx := context.Background()
		member := p.lone("g", "i")
		after := crash.PowerCut(vfs.SurviveNone)
		p.stop()
		p = start(t, after, coordinator.Options{}, "g")
		must(t, p.Heartbeat(ctx, "g", member))
		// The static member restarts, too: no rebalance, and its former self is fenced, also after the next crash.
		again := joining("i")
		again.CanSkipAssignment = true
		joined, err := p.Join(ctx, "g", again)
		must(t, err)
		if joined.Generation != member.Generation || !joined.SkipAssignment || joined.MemberID == member.MemberID {
			t.Errorf("joined as %+v", joined)
		}
		wants(t, p.Heartbeat(ctx, "g", member), group.ErrFencedInstance)
		after = after.PowerCut(vfs.SurviveNone)
		p.stop()
		p = start(t, after, coordinator.Options{}, "g")
		wants(t, p.Heartbeat(ctx, "g", member), group.ErrFencedInstance)
		got, err := p.Sync(ctx, "g", group.SyncRequest{Identity: group.Identity{MemberID: joined.MemberID, Generation: joined.Generation}})
		if err != nil || string(got.Assignment) != "all" {
			t.Errorf("assigned %q, %v", got.Assignment, err)
		}
		// Sessions begin anew with the slot, and end.
		time.Sleep(9 * time.Second)
		if d, err := p.Describe(ctx, "g"); err != nil || d.State != group.Stable {
			t.Errorf("described as %+v, %v", d, err)
		}
		time.Sleep(2 * time.Second)
		if d, err := p.Describe(ctx, "g"); err != nil || d.State != group.Empty || d.ProtocolType != "consumer" {
			t.Errorf("described as %+v, %v", d, err)
		}
	})
}

func TestRequestsForGroupsThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g", "")
		ctx := context.Background()
		who := group.Identity{MemberID: "m", Generation: 1}
		known := joining("")
		known.MemberID = "m"
		result, err := p.Join(ctx, "g", known)
		wants(t, err, group.ErrUnknownMember)
		if result.MemberID != "m" || result.Generation != -1 {
			t.Errorf("result %+v", result)
		}
		short := joining("")
		short.SessionTimeout = time.Second
		_, err = p.Join(ctx, "g", short)
		wants(t, err, group.ErrSessionTimeout)
		_, err = p.Sync(ctx, "g", group.SyncRequest{Identity: who})
		wants(t, err, group.ErrUnknownMember)
		_, err = p.Sync(ctx, "g", group.SyncRequest{Identity: who, RequireProtocol: true})
		wants(t, err, group.ErrInconsistentProtocol)
		wants(t, p.Heartbeat(ctx, "g", who), group.ErrUnknownMember)
		left, err := p.Leave(ctx, "g", []group.LeaveRequest{{MemberID: "m"}, {MemberID: "n"}})
		must(t, err)
		wants(t, left[0], group.ErrUnknownMember)
		wants(t, left[1], group.ErrUnknownMember)
		wants(t, p.Delete(ctx, "g"), coordinator.ErrGroupNotFound)
		_, err = p.DeleteOffsets(ctx, "g", nil)
		wants(t, err, coordinator.ErrGroupNotFound)
		if d, err := p.Describe(ctx, "g"); err != nil || d.State != group.Dead {
			t.Errorf("described as %+v, %v", d, err)
		}
		if list, err := p.List(ctx); err != nil || len(list) != 0 {
			t.Errorf("requests made groups: %v, %v", list, err)
		}
		// Without a name one may commit, but not be a member.
		_, err = p.Join(ctx, "", joining(""))
		wants(t, err, coordinator.ErrInvalidGroupID)
		_, err = p.Sync(ctx, "", group.SyncRequest{Identity: who})
		wants(t, err, coordinator.ErrInvalidGroupID)
		wants(t, p.Heartbeat(ctx, "", who), coordinator.ErrInvalidGroupID)
		_, err = p.Leave(ctx, "", nil)
		wants(t, err, coordinator.ErrInvalidGroupID)
		_, err = p.DeleteOffsets(ctx, "", nil)
		wants(t, err, coordinator.ErrInvalidGroupID)
		must(t, p.commit("", commitOf("t", 0, 1)))
		must(t, p.Delete(ctx, ""))
	})
}

func TestDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		ids := []string{"g", "workers", "offsets"}
		p := start(t, filesystem, coordinator.Options{}, ids...)
		ctx := context.Background()
		member := p.lone("g", "")
		_, err := p.Commit(ctx, "g", coordinator.CommitRequest{Identity: member, Retention: -1, Offsets: []coordinator.CommitOffset{
			commitOf("t", 0, 1), commitOf("other", 0, 2),
		}})
		must(t, err)
		wants(t, p.Delete(ctx, "g"), coordinator.ErrNonEmptyGroup)
		results, err := p.DeleteOffsets(ctx, "g", []offset.Partition{at("t", 0), at("other", 0), at("none", 0)})
		must(t, err)
		wants(t, results[0], coordinator.ErrSubscribed)
		wants(t, errors.Join(results[1:]...), nil)
		if p.fetch("g", at("t", 0)).Offset != 1 || p.fetch("g", at("other", 0)).Offset != -1 {
			t.Error("wrong offsets were deleted")
		}
		worker := joining("")
		worker.ProtocolType = "connect"
		_, err = p.Join(ctx, "workers", worker)
		must(t, err)
		_, err = p.DeleteOffsets(ctx, "workers", []offset.Partition{at("t", 0)})
		wants(t, err, coordinator.ErrNonEmptyGroup)

		// The last offset of a group without members takes the group along; naming one twice does not make it the last.
		must(t, p.commit("offsets", commitOf("t", 0, 1)))
		must(t, p.commit("offsets", commitOf("t", 1, 1)))
		_, err = p.DeleteOffsets(ctx, "offsets", []offset.Partition{at("t", 0), at("t", 0)})
		must(t, err)
		if p.fetch("offsets", at("t", 1)).Offset != 1 {
			t.Error("the other offset is gone")
		}
		_, err = p.DeleteOffsets(ctx, "offsets", []offset.Partition{at("t", 1)})
		must(t, err)
		wants(t, p.Delete(ctx, "offsets"), coordinator.ErrGroupNotFound)

		_, err = p.Leave(ctx, "g", []group.LeaveRequest{{MemberID: member.MemberID}})
		must(t, err)
		must(t, p.Delete(ctx, "g"))
		wants(t, p.Delete(ctx, "g"), coordinator.ErrGroupNotFound)
		p.stop()
		p = start(t, filesystem, coordinator.Options{}, ids...)
		list, err := p.List(ctx)
		if err != nil || len(list) != 0 {
			t.Errorf("came back after a restart: %v, %v", list, err)
		}
	})
}

func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "b", "a")
		p.lone("b", "")
		must(t, p.commit("a", commitOf("t", 0, 1)))
		list, err := p.List(context.Background())
		must(t, err)
		want := []coordinator.Listed{{ID: "a"}, {ID: "b", ProtocolType: "consumer", State: group.Stable}}
		if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
			t.Errorf("got %+v, want %+v", list, want)
		}
	})
}
