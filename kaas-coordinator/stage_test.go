package coordinator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestWhoStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx", "unknown", "g", "h", "")
		ctx := context.Background()
		producer := p.register("tx")
		other := coordinator.Producer{ID: 99}
		replaced := coordinator.Producer{ID: producer.ID, Epoch: producer.Epoch - 1}
		future := coordinator.Producer{ID: producer.ID, Epoch: producer.Epoch + 1}
		try := func(when, id, groupID string, who coordinator.Producer, want error) {
			t.Helper()
			err := p.stageAs(id, groupID, who, commitOf("in", 0, 5))
			if !errors.Is(err, want) {
				t.Errorf("%s, %s as %+v in %s: %v, want %v", when, id, who, groupID, err, want)
			}
		}
		try("nothing begun", "tx", "g", producer, coordinator.ErrInvalidTransactionState)
		p.begin("tx", "g", producer, partitionOf("t", 0))
		for _, when := range []string{"open", "staging"} {
			try(when, "tx", "abroad", producer, coordinator.ErrNotCoordinator)
			try(when, "abroad", "h", producer, group.ErrNotAvailable)
			try(when, "", "h", producer, coordinator.ErrInvalidTransactionRequest)
			try(when, "tx", "", producer, coordinator.ErrInvalidGroupID)
			try(when, "tx", "h", producer, coordinator.ErrInvalidTransactionState)
			try(when, "unknown", "g", other, coordinator.ErrInvalidProducerIDMapping)
			try(when, "tx", "g", other, coordinator.ErrInvalidProducerIDMapping)
			try(when, "tx", "g", replaced, coordinator.ErrInvalidProducerEpoch)
			try(when, "tx", "g", future, coordinator.ErrInvalidProducerEpoch)
			try(when, "tx", "g", producer, nil)
		}
		parts.setBefore(isUnreachable)
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		// The group has its marker already, the partition has not.
		try("decided", "tx", "g", producer, group.ErrNotAvailable)
		parts.setBefore(nil)
		time.Sleep(10 * time.Second)
		try("ended", "tx", "g", producer, coordinator.ErrInvalidTransactionState)
		if got := p.fetch("g", at("in", 0)).Offset; got != 5 {
			t.Errorf("offset %d", got)
		}
		if d, err := p.Describe(ctx, "h"); err != nil || d.State != group.Dead {
			t.Errorf("what was refused made a group: %v, %v", d.State, err)
		}
	})
}

// Members are checked as for plain commits, save that nobody in particular may stage in a group with members (KIP-447).
func TestMembersStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := transacting(t, "tx", "g")
		ctx := context.Background()
		member := p.lone("g", "")
		producer := p.register("tx")
		p.begin("tx", "g", producer, partitionOf("t", 0))
		large := commitOf("in", 1, 6)
		large.Metadata = strings.Repeat("m", 4097)
		cases := []struct {
			name string
			who  group.Identity
			want error
		}{
			{"unknown member", group.Identity{MemberID: "m", Generation: member.Generation}, group.ErrUnknownMember},
			{"earlier generation", group.Identity{MemberID: member.MemberID, Generation: member.Generation - 1}, group.ErrIllegalGeneration},
			{"nobody", nobody(), nil},
			{"member", member, nil},
		}
		for _, c := range cases {
			results, err := p.StageOffsets(ctx, "g", coordinator.StageRequest{
				TransactionalID: "tx", Producer: producer, Identity: c.who, Offsets: []coordinator.CommitOffset{commitOf("in", 0, 5), large},
			})
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			if err == nil && (results[0] != nil || !errors.Is(results[1], coordinator.ErrMetadataTooLarge)) {
				t.Errorf("%s: %v", c.name, results)
			}
		}
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		if p.fetch("g", at("in", 0)).Offset != 5 || p.fetch("g", at("in", 1)).Offset != -1 {
			t.Error("offsets after the commit")
		}
	})
}

// Staged offsets and what becomes of them survive power cuts at any place.
func TestStagedOffsetsSurviveAPowerCut(t *testing.T) {
	for name, commit := range map[string]bool{"commit": true, "abort": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crash := vfs.NewCrash(64 << 20)
				prepare(t, crash)
				options, parts := transactional()
				p := start(t, crash, options, "tx", "g", "h")
				ctx := context.Background()
				restart := func() {
					t.Helper()
					after := crash.PowerCut(vfs.SurviveNone)
					p.stop()
					crash = after
					p = start(t, crash, options, "tx", "g", "h")
				}
				for n, topic := range []string{"plain first", "plain last", "untouched"} {
					must(t, p.commit("g", commitOf(topic, 0, int64(n))))
				}
				producer := p.register("tx")
				p.begin("tx", "g", producer, partitionOf("t", 0))
				must(t, p.AddOffsets(ctx, "tx", producer, "h"))
				must(t, p.stageAs("tx", "g", producer, commitOf("plain first", 0, 100)))
				must(t, p.stageAs("tx", "g", producer, commitOf("plain last", 0, 100)))
				must(t, p.stageAs("tx", "h", producer, commitOf("in", 0, 100)))
				restart()
				must(t, p.commit("g", commitOf("plain last", 0, 200)))
				must(t, p.stageAs("tx", "h", producer, commitOf("in", 0, 101))) // the latest counts
				fetched, err := p.Fetch(ctx, "g", coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("plain first", 0), at("untouched", 0)}})
				must(t, err)
				wants(t, fetched[0].Err, coordinator.ErrUnstableOffset)
				must(t, fetched[1].Err)
				parts.setBefore(isUnreachable)
				must(t, p.EndTransaction(ctx, "tx", producer, commit))
				restart()
				parts.setBefore(nil)
				time.Sleep(10 * time.Second)
				restart()
				want := map[offset.Partition]int64{at("plain first", 0): 0, at("plain last", 0): 200, at("untouched", 0): 2}
				inH := int64(-1)
				if commit {
					want[at("plain first", 0)], inH = 100, 101
				}
				for at, position := range want {
					if got := p.fetch("g", at); got.Offset != position {
						t.Errorf("%v is at %d, want %d", at, got.Offset, position)
					}
				}
				if got := p.fetch("h", at("in", 0)).Offset; got != inH {
					t.Errorf("h is at %d, want %d", got, inH)
				}
				fetched, err = p.Fetch(ctx, "g", coordinator.FetchRequest{RequireStable: true})
				must(t, err)
				for _, f := range fetched {
					must(t, f.Err)
				}
			})
		})
	}
}

// A group that is deleted takes its staged offsets along, and the commit brings nothing back (as in Kafka).
func TestGroupDeletionWithStagedOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, _ := transactional()
		p := start(t, filesystem, options, "tx", "g")
		ctx := context.Background()
		producer := p.register("tx")
		p.begin("tx", "g", producer, partitionOf("t", 0))
		must(t, p.commit("g", commitOf("in", 1, 1)))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.Delete(ctx, "g"))
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		for range 2 {
			if d, err := p.Describe(ctx, "g"); err != nil || d.State != group.Dead {
				t.Errorf("group is %v, %v", d.State, err)
			}
			if got := p.state("tx").State; got != txn.CompleteCommit {
				t.Errorf("transaction is %v", got)
			}
			p.stop()
			p = start(t, filesystem, options, "tx", "g")
		}
		// Staged again before the end it counts again.
		p.begin("tx", "g", producer, partitionOf("t", 0))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.Delete(ctx, "g"))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 6)))
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		if got := p.fetch("g", at("in", 0)).Offset; got != 6 {
			t.Errorf("offset %d", got)
		}
	})
}

// A marker that ends more than one batch should hold is placed in parts: one batch with everything that a client could stage would take the memory of several of
// it. Wherever the power fails in between, the outcome is whole in the end.
func TestMarkerOfManyOffsets(t *testing.T) {
	const size, count = 100 << 10, 40
	for _, commit := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			crash := vfs.NewCrash(256 << 20)
			prepare(t, crash)
			options, _ := transactional()
			options.Offsets.MaxMetadata = size
			p := start(t, crash, options, "tx", "g", "h")
			ctx := context.Background()
			producer := p.register("tx")
			p.begin("tx", "g", producer, partitionOf("t", 0))
			must(t, p.AddOffsets(ctx, "tx", producer, "h"))
			for n := range int32(count) {
				o := commitOf("in", n, int64(n))
				o.Metadata = strings.Repeat("m", size)
				must(t, p.stageAs("tx", []string{"g", "h"}[n%2], producer, o))
			}
			before := p.taken[slot.Of("g", slot.DefaultCount)].Offsets().LogEnd
			must(t, p.EndTransaction(ctx, "tx", producer, commit))
			time.Sleep(time.Second)
			for n, bytes := range batchSizes(t, p.taken[slot.Of("g", slot.DefaultCount)], before) {
				if bytes > 1<<20+size+10000 {
					t.Errorf("batch %d has %d bytes", n, bytes)
				}
			}
			for restarted := range 2 {
				for n := range int32(count) {
					id, want := []string{"g", "h"}[n%2], int64(-1)
					if commit {
						want = int64(n)
					}
					fetched, err := p.Fetch(ctx, id, coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("in", n)}})
					must(t, err)
					if fetched[0].Err != nil || fetched[0].Offset != want {
						t.Errorf("restarted %d: partition %d is at %d, %v", restarted, n, fetched[0].Offset, fetched[0].Err)
					}
				}
				after := crash.PowerCut(vfs.SurviveNone)
				p.stop()
				crash = after
				p = start(t, crash, options, "tx", "g", "h")
			}
		})
	}
}

// batchSizes are those of a slot's log from an offset on, as far as it is not trimmed.
func batchSizes(t *testing.T, p *storage.Partition, from int64) []int {
	t.Helper()
	var sizes []int
	from = max(from, p.Offsets().LogStart)
	for from < p.Offsets().HighWatermark {
		section, err := p.Read(from, storage.ReadOptions{MaxBytes: 1, AtLeastOneBatch: true})
		must(t, err)
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		must(t, err)
		b, _, err := batch.Next(data)
		must(t, err)
		sizes, from = append(sizes, len(b)), b.LastOffset()+1
	}
	return sizes
}

// A group without anything but offsets that were aborted is gone after a look.
func TestGroupOfAbortedOffsetsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := transacting(t, "tx", "g")
		producer := p.register("tx")
		p.begin("tx", "g", producer, partitionOf("t", 0))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.EndTransaction(context.Background(), "tx", producer, false))
		time.Sleep(11 * time.Minute)
		if d, err := p.Describe(context.Background(), "g"); err != nil || d.State != group.Dead {
			t.Errorf("group is %v, %v", d.State, err)
		}
	})
}

// An answer that says that the transaction is open is void when its marker comes first: what is staged then would stay for good.
func TestMarkerOvertakesVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The transaction's slot does not answer checks of its claim while it is held.
		claims := "__coordinator/" + slot.DirName(slot.Of("tx", slot.DefaultCount))
		checks := &gate{of: func(op vfs.Op) bool { return op.Kind == vfs.OpCheck && op.Path == claims }}
		fault := vfs.NewFault(prepared(t), checks.hook)
		options, _ := transactional()
		p := start(t, fault, options, "tx", "g")
		if slot.Of("tx", slot.DefaultCount) == slot.Of("g", slot.DefaultCount) {
			t.Fatal("the group must be of another slot")
		}
		producer := p.register("tx")
		p.begin("tx", "g", producer, partitionOf("t", 0))
		checks.shut()
		time.Sleep(time.Millisecond) // no check before counts
		staged := make(chan error, 1)
		go func() { staged <- p.stageAs("tx", "g", producer, commitOf("in", 0, 5)) }()
		synctest.Wait()
		if len(staged) > 0 {
			t.Fatal("staged without an answer about the transaction")
		}
		// It was verified, but has not heard of it. The decision would hang as the check does: the marker comes as if from elsewhere.
		must(t, p.WriteOffsetMarker(context.Background(), slot.Of("g", slot.DefaultCount), coordinator.Marker{ProducerID: producer.ID, Identity: 1000}))
		checks.open()
		wants(t, <-staged, coordinator.ErrInvalidTransactionState)
		fetched, err := p.Fetch(context.Background(), "g", coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("in", 0)}})
		must(t, err)
		must(t, fetched[0].Err)
	})
}

func TestStagingWithoutVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, _ := transactional()
		options.Transactions.SkipVerification = true
		p := start(t, prepared(t), options, "g")
		must(t, p.stageAs("elsewhere", "g", coordinator.Producer{ID: 7}, commitOf("in", 0, 5)))
		m := coordinator.Marker{ProducerID: 7, Commit: true, Identity: 3}
		// A repeated marker is answered like the first, and one that is late does nothing.
		for range 2 {
			must(t, p.WriteOffsetMarker(context.Background(), slot.Of("g", slot.DefaultCount), m))
		}
		must(t, p.stageAs("elsewhere", "g", coordinator.Producer{ID: 7}, commitOf("in", 0, 6)))
		m.Identity--
		must(t, p.WriteOffsetMarker(context.Background(), slot.Of("g", slot.DefaultCount), m))
		if got := p.fetch("g", at("in", 0)).Offset; got != 5 {
			t.Errorf("offset %d", got)
		}
	})
}

// A repeated marker is answered when the first is durable, not before.
func TestRepeatedMarkerWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		syncs := holding(vfs.OpSync)
		fault := vfs.NewFault(prepared(t), syncs.hook)
		options, _ := transactional()
		p := start(t, fault, options, "g")
		syncs.shut()
		done := make(chan error, 2)
		for range 2 {
			go func() {
				done <- p.WriteOffsetMarker(context.Background(), slot.Of("g", slot.DefaultCount), coordinator.Marker{ProducerID: 7, Identity: 3})
			}()
			synctest.Wait()
		}
		if len(done) > 0 {
			t.Error("a marker was answered before its sync")
		}
		syncs.open()
		must(t, <-done)
		must(t, <-done)
	})
}
