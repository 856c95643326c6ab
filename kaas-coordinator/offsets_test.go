package coordinator_test

import (
	"context"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestCommittedOffsetsSurviveAPowerCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := vfs.NewCrash(64 << 20)
		prepare(t, crash)
		ids := []string{"plain", "", "a/b\\c.d", strings.Repeat("x", 1000), "😀", "not\xffutf8"}
		p := start(t, crash, coordinator.Options{}, ids...)
		want := commitOf("t", 3, 42)
		want.LeaderEpoch, want.Metadata = 7, "é\"\n"
		for _, id := range ids {
			must(t, p.commit(id, commitOf("t", 3, 1)))
			must(t, p.commit(id, want))
			must(t, p.commit(id, commitOf("t", 4, -9)))
		}
		// Everything that was acknowledged is durable: nothing else survives.
		after := crash.PowerCut(vfs.SurviveNone)
		p.stop()
		p = start(t, after, coordinator.Options{}, ids...)
		for _, id := range ids {
			if got := p.fetch(id, at("t", 3)); got.Offset != 42 || got.LeaderEpoch != 7 || got.Metadata != want.Metadata || got.Err != nil {
				t.Errorf("group %q is at %+v", id, got)
			}
			all, err := p.Fetch(context.Background(), id, coordinator.FetchRequest{})
			must(t, err)
			if len(all) != 2 || all[1].Offset != -9 || all[1].LeaderEpoch != -1 {
				t.Errorf("all of group %q: %+v", id, all)
			}
		}
	})
}

func TestFetchOfWhatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g")
		for _, id := range []string{"g", "g"} { // the first fetch must not make the group
			got := p.fetch(id, at("t", 0))
			if got.Offset != -1 || got.LeaderEpoch != -1 || got.Metadata != "" || got.Err != nil {
				t.Errorf("got %+v", got)
			}
			all, err := p.Fetch(context.Background(), id, coordinator.FetchRequest{})
			if err != nil || len(all) != 0 {
				t.Errorf("all: %v, %v", all, err)
			}
		}
		list, err := p.List(context.Background())
		if err != nil || len(list) != 0 {
			t.Errorf("list %v, %v", list, err)
		}
	})
}

func TestCommitRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, prepared(t), coordinator.Options{}, "g", "unknown")
		ctx := context.Background()
		try := func(id string, who group.Identity, offsets ...coordinator.CommitOffset) ([]error, error) {
			return p.Commit(ctx, id, coordinator.CommitRequest{Identity: who, Offsets: offsets, Retention: -1})
		}
		_, err := try("unknown", group.Identity{MemberID: "m", Generation: 0}, commitOf("t", 0, 1))
		wants(t, err, group.ErrIllegalGeneration)
		member := p.lone("g", "")
		_, err = try("g", member, commitOf("t", 0, 5))
		must(t, err)
		_, err = try("g", nobody(), commitOf("t", 0, 6))
		wants(t, err, group.ErrUnknownMember)
		_, err = try("g", group.Identity{MemberID: member.MemberID, Generation: 9}, commitOf("t", 0, 6))
		wants(t, err, group.ErrIllegalGeneration)
		if got := p.fetch("g", at("t", 0)); got.Offset != 5 {
			t.Errorf("refused commits moved the offset to %d", got.Offset)
		}

		large, fits := commitOf("t", 1, 7), commitOf("t", 2, 8)
		large.Metadata, fits.Metadata = strings.Repeat("m", 4097), strings.Repeat("m", 4096)
		results, err := try("g", member, large, fits)
		must(t, err)
		wants(t, results[0], coordinator.ErrMetadataTooLarge)
		must(t, results[1])
		if p.fetch("g", at("t", 1)).Offset != -1 || p.fetch("g", at("t", 2)).Metadata != fits.Metadata {
			t.Error("metadata that is too large must hold up its own offset only")
		}
		results, err = try("g", member, large)
		must(t, err)
		wants(t, results[0], coordinator.ErrMetadataTooLarge)
		large.Metadata, fits.Metadata = strings.Repeat("🦊", 2049), strings.Repeat("ü", 4096) // letters count as in Java
		results, err = try("g", member, large, fits)
		must(t, err)
		wants(t, results[0], coordinator.ErrMetadataTooLarge)
		must(t, results[1])
	})
}

// topics is a catalog of one topic.
type topics map[string]uuid.UUID

func (s topics) TopicID(name string) (uuid.UUID, bool) { id, known := s[name]; return id, known }

func TestOffsetsOfAnotherIncarnation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		catalog := topics{"t": uuid.New(), "u": uuid.New()}
		p := start(t, filesystem, coordinator.Options{Topics: catalog}, "g", "h")
		for _, id := range []string{"g", "h"} {
			for _, topic := range []string{"t", "u"} {
				c := commitOf(topic, 0, 5)
				c.TopicID = catalog[topic]
				must(t, p.commit(id, c))
			}
		}
		old := catalog["t"]
		catalog["t"] = uuid.New()
		if got := p.fetch("g", at("t", 0)); got.Offset != -1 {
			t.Errorf("a new topic begins at %d", got.Offset)
		}
		if all, err := p.Fetch(context.Background(), "g", coordinator.FetchRequest{}); err != nil || len(all) != 1 {
			t.Errorf("all: %v, %v", all, err)
		}
		delete(catalog, "t")
		if got := p.fetch("g", at("t", 0)); got.Offset != -1 {
			t.Errorf("a topic that is not there is at %d", got.Offset)
		}
		// The purge takes the old topic's offsets from every group, for good, and no others.
		must(t, p.DeleteTopic(context.Background(), "t", old))
		must(t, p.DeleteTopic(context.Background(), "t", old))
		p.stop()
		p = start(t, filesystem, coordinator.Options{}, "g", "h")
		for _, id := range []string{"g", "h"} {
			if p.fetch(id, at("t", 0)).Offset != -1 || p.fetch(id, at("u", 0)).Offset != 5 {
				t.Errorf("group %s after the purge and a restart", id)
			}
		}
	})
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		ids := []string{"standalone", "left", "short", "live"}
		p := start(t, filesystem, coordinator.Options{}, ids...)
		ctx := context.Background()
		day := 24 * time.Hour
		must(t, p.commit("standalone", commitOf("t", 0, 1)))
		_, err := p.Commit(ctx, "short", coordinator.CommitRequest{
			Identity: nobody(), Offsets: []coordinator.CommitOffset{commitOf("t", 0, 1)}, Retention: day,
		})
		must(t, err)
		patient := joining("")
		patient.SessionTimeout = 30 * time.Minute
		live, left := p.loneWith("live", patient), p.loneWith("left", patient)
		for id, member := range map[string]group.Identity{"live": live, "left": left} {
			_, err := p.Commit(ctx, id, coordinator.CommitRequest{Identity: member, Retention: -1, Offsets: []coordinator.CommitOffset{
				commitOf("t", 0, 1), commitOf("other", 0, 1),
			}})
			must(t, err)
		}
		stay := func(d time.Duration, leaves bool) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Minute) {
				must(t, p.Heartbeat(ctx, "live", live))
				if !leaves {
					must(t, p.Heartbeat(ctx, "left", left))
				}
			}
		}
		has := func(id, topic string, want bool) {
			t.Helper()
			if got := p.fetch(id, at(topic, 0)).Offset; (got == 1) != want {
				t.Errorf("%s is at %d in %s after %v", id, got, topic, time.Now())
			}
		}
		stay(2*day, false)
		has("short", "t", false)
		has("standalone", "t", true)
		// Who leaves now has its seven days from now; the standalone one has had two.
		_, err = p.Leave(ctx, "left", []group.LeaveRequest{{MemberID: left.MemberID}})
		must(t, err)
		stay(6*day, true)
		has("standalone", "t", false)
		has("live", "t", true) // it is subscribed
		has("live", "other", false)
		has("left", "t", true)
		// A restart does not begin the time anew.
		p.stop()
		p = start(t, filesystem, coordinator.Options{}, ids...)
		stay(day+time.Hour, true)
		has("left", "t", false)
		list, err := p.List(ctx)
		must(t, err)
		if len(list) != 1 || list[0].ID != "live" {
			t.Errorf("left over: %v", list)
		}
	})
}

// Pending offsets as a leader before may have left them, without the transaction that they are of.
func TestPendingOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		p := start(t, filesystem, coordinator.Options{}, "g")
		must(t, p.commit("g", commitOf("t", 0, 1)))
		p.stop()

		writer := begin(t, filesystem, coordinator.Options{})
		partition, err := writer.take(context.Background(), slot.Of("g", slot.DefaultCount))
		must(t, err)
		s, err := slot.Open(context.Background(), partition, func(slot.Record, int64) error { return nil }, slot.Options{})
		must(t, err)
		s.Lock()
		pending, err := s.Append(
			slot.Record{Key: slot.PendingKey("g", 7, "t", 0), Value: offset.Committed{Offset: 9, ExpireTime: offset.Never}.AppendJSON(nil)},
			slot.Record{Key: slot.PendingKey("only", 7, "t", 0), Value: offset.Committed{Offset: 9, ExpireTime: offset.Never}.AppendJSON(nil)},
		)
		s.Unlock()
		must(t, err)
		must(t, pending.Wait(context.Background()))
		s.Close()
		writer.stop()

		p = start(t, filesystem, coordinator.Options{}, "g")
		if got := p.fetch("g", at("t", 0)); got.Offset != 1 || got.Err != nil {
			t.Errorf("got %+v", got)
		}
		for _, partitions := range [][]offset.Partition{{at("t", 0)}, nil} {
			got, err := p.Fetch(context.Background(), "g", coordinator.FetchRequest{Partitions: partitions, RequireStable: true})
			must(t, err)
			if len(got) != 1 || got[0].Offset != -1 {
				t.Fatalf("got %+v", got)
			}
			wants(t, got[0].Err, coordinator.ErrUnstableOffset)
		}
		must(t, p.Delete(context.Background(), "g"))
		p.stop()
		p = start(t, filesystem, coordinator.Options{}, "g")
		got, err := p.Fetch(context.Background(), "g", coordinator.FetchRequest{Partitions: []offset.Partition{at("t", 0)}, RequireStable: true})
		must(t, err)
		if want := []coordinator.FetchedOffset{{Partition: at("t", 0), Offset: -1, LeaderEpoch: -1}}; !reflect.DeepEqual(got, want) {
			t.Errorf("after the deletion: %+v", got)
		}
	})
}

// Commits that come while a sync is under way share the next one.
func TestCommitsShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held atomic.Bool
		var syncs atomic.Int64
		release := make(chan struct{})
		fault := vfs.NewFault(vfs.NewMem(64<<20), func(op vfs.Op) error {
			if op.Kind == vfs.OpSync && !op.After {
				syncs.Add(1)
				if held.Load() {
					<-release
				}
			}
			return nil
		})
		prepare(t, fault)
		p := start(t, fault, coordinator.Options{}, "g")
		must(t, p.commit("g", commitOf("t", 0, 0)))
		held.Store(true)
		syncs.Store(0)
		done := make(chan error, 50)
		for n := range int64(50) {
			go func() { done <- p.commit("g", commitOf("t", int32(n), n)) }()
			synctest.Wait()
		}
		if len(done) > 0 {
			t.Fatal("a commit was acknowledged before its sync")
		}
		held.Store(false)
		close(release)
		for range 50 {
			must(t, <-done)
		}
		if got := syncs.Load(); got != 2 {
			t.Errorf("50 commits took %d syncs", got)
		}
	})
}

// The id of a group goes with each of its offsets into the log: a request that repeats little must not become gigabytes.
func TestCommitsThatBecomeTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("g", 32<<10-1)
		escaped := strings.Repeat("\x01", 2000)
		p := start(t, prepared(t), coordinator.Options{}, "g", long, escaped)
		many := make([]coordinator.CommitOffset, 1000)
		for i := range many {
			many[i] = commitOf("t", int32(i), 1)
		}
		many[7].Metadata = strings.Repeat("m", 4097)
		commit := func(id string) []error {
			results, err := p.Commit(t.Context(), id, coordinator.CommitRequest{Identity: nobody(), Offsets: many, Retention: -1})
			must(t, err)
			return results
		}
		results := commit(long)
		wants(t, results[0], coordinator.ErrCommitTooLarge)
		wants(t, results[7], coordinator.ErrMetadataTooLarge)
		if got := p.fetch(long, at("t", 0)); got.Offset != -1 {
			t.Errorf("a refused commit moved the offset to %d", got.Offset)
		}
		must(t, commit("g")[0])
		wants(t, commit(escaped)[0], coordinator.ErrCommitTooLarge)
		many = many[:7]
		must(t, commit(long)[0])
	})
}

// A partition is named as often as a client likes, and removed once.
func TestRemovalOfWhatIsNamedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("g", 32<<10-1)
		filesystem := prepared(t)
		p := start(t, filesystem, coordinator.Options{}, long)
		for i := range int32(100) {
			must(t, p.commit(long, commitOf("t", i, 1)))
		}
		size := p.taken[slot.Of(long, slot.DefaultCount)].Size
		before := size()
		named := make([]offset.Partition, 10_000)
		for i := range named {
			named[i] = at("t", int32(i%2))
		}
		_, err := p.DeleteOffsets(t.Context(), long, named)
		must(t, err)
		if grown := size() - before; grown > 100<<10 {
			t.Errorf("the removal of two offsets took %d bytes", grown)
		}
		must(t, p.Delete(t.Context(), long))
		if got := p.fetch(long, at("t", 99)); got.Offset != -1 {
			t.Errorf("an offset of a removed group is %d", got.Offset)
		}
	})
}
