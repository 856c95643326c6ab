package coordinator_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A coordinator that was replaced tells nobody anything, least of all that they are fenced.
func TestReplacedCoordinatorRefusesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, _ := transactional()
		ask := map[string]func(*process, coordinator.Producer) error{
			"add": func(p *process, as coordinator.Producer) error {
				return p.AddPartitions(context.Background(), "tx", as, nil)
			},
			"end": func(p *process, as coordinator.Producer) error {
				return p.EndTransaction(context.Background(), "tx", as, true)
			},
			"stage": func(p *process, as coordinator.Producer) error {
				return p.stageAs("tx", "tx", as, commitOf("in", 0, 1))
			},
			"verify": func(p *process, as coordinator.Producer) error { return asked(p, "tx", as)["verify"] },
			"register": func(p *process, as coordinator.Producer) error {
				_, err := p.InitProducerID(context.Background(), "tx", coordinator.InitProducer{Timeout: time.Minute, Producer: as})
				return err
			},
			"describe": func(p *process, _ coordinator.Producer) error {
				_, err := p.DescribeTransaction(context.Background(), "tx")
				return err
			},
			"list": func(p *process, _ coordinator.Producer) error {
				_, err := p.ListTransactions(context.Background(), coordinator.TransactionFilter{})
				return err
			},
		}
		for name, ask := range ask {
			first := start(t, filesystem, options, "tx")
			first.register("tx")
			second := start(t, filesystem, options, "tx")
			producer := second.register("tx")
			time.Sleep(time.Millisecond) // no check before counts
			want := coordinator.ErrNotCoordinator
			if name == "list" {
				want = coordinator.ErrLoading
			}
			if err := ask(first, producer); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
			first.stop()
			second.stop()
		}
	})
}

// A leader that freezes while it stores a decision has decided nothing until its successor finds the record, and sends no marker when it thaws: the
// successor may have decided otherwise.
func TestFrozenDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, parts := transactional()
		at0 := partitionOf("t", 0)
		ctx := context.Background()
		frozen := &gate{}
		first := start(t, vfs.NewFault(filesystem, frozen.hook), options, "tx", "g")
		producer := first.register("tx")
		first.begin("tx", "g", producer, at0)
		must(t, first.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		frozen.shut()
		ended := make(chan error, 1)
		go func() { ended <- first.EndTransaction(ctx, "tx", producer, true) }()
		synctest.Wait()

		second := start(t, filesystem, options, "tx", "g")
		must(t, second.EndTransaction(ctx, "tx", producer, false))
		synctest.Wait()
		frozen.open()
		wants(t, <-ended, coordinator.ErrNotCoordinator)
		time.Sleep(time.Minute)
		if got := parts.outcomes(at0); got != "A" {
			t.Errorf("markers %s", got)
		}
		if got := second.fetch("g", at("in", 0)).Offset; got != -1 {
			t.Errorf("offset %d", got)
		}
	})
}

// The marker of a transaction that a replaced leader still sends never ends the producer's next one, in partitions and groups alike.
func TestLateMarkerOfAReplacedLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, parts := transactional()
		at0 := partitionOf("t", 0)
		ctx := context.Background()
		var held atomic.Bool
		held.Store(true)
		release := make(chan struct{})
		parts.setBefore(func(context.Context, coordinator.Marker, coordinator.TransactionPartition) error {
			if held.Load() {
				<-release // it does not heed the end of its context: it is on the wire
			}
			return nil
		})
		first := start(t, filesystem, options, "tx")
		groups := start(t, filesystem, options, "g")
		if slot.Of("tx", slot.DefaultCount) == slot.Of("g", slot.DefaultCount) {
			t.Fatal("the group must be of another slot")
		}
		producer := first.register("tx")
		first.begin("tx", "", producer, at0)
		must(t, first.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()

		// The second finds the decision, places its own marker and goes on to the next transaction.
		held.Store(false)
		second := start(t, filesystem, options, "tx")
		synctest.Wait()
		second.begin("tx", "", producer, at0)
		if got := parts.outcomes(at0); got != "C" {
			t.Fatalf("markers %s", got)
		}
		close(release)
		synctest.Wait()
		if parts.outcomes(at0) != "C" || parts.ignored() != 1 {
			t.Errorf("markers %s, %d late", parts.outcomes(at0), parts.ignored())
		}
		must(t, second.EndTransaction(ctx, "tx", producer, false))
		synctest.Wait()
		if got := parts.outcomes(at0); got != "CA" {
			t.Errorf("markers %s", got)
		}

		// And the same in a group's slot, by the words of the first leader.
		first.stop()
		options.Transactions.SkipVerification = true
		late := parts.at(at0)[0]
		must(t, groups.WriteOffsetMarker(ctx, slot.Of("g", slot.DefaultCount), late))
		groups.stop()
		groups = start(t, filesystem, options, "g")
		must(t, groups.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, groups.WriteOffsetMarker(ctx, slot.Of("g", slot.DefaultCount), late))
		if got := groups.fetch("g", at("in", 0)).Offset; got != -1 {
			t.Errorf("a late marker committed offset %d", got)
		}
		must(t, groups.WriteOffsetMarker(ctx, slot.Of("g", slot.DefaultCount), coordinator.Marker{ProducerID: producer.ID, Identity: late.Identity + 1, Commit: true}))
		if got := groups.fetch("g", at("in", 0)).Offset; got != 5 {
			t.Errorf("offset %d", got)
		}
	})
}

// What the first leader decided the second completes, and the other way around nothing is decided twice.
func TestTakeoverOfADecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, parts := transactional()
		at0 := partitionOf("t", 0)
		ctx := context.Background()
		parts.setBefore(isUnreachable)
		first := start(t, filesystem, options, "tx", "g")
		producer := first.register("tx")
		first.begin("tx", "g", producer, at0)
		must(t, first.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, first.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		second := start(t, filesystem, options, "tx", "g")
		wants(t, second.EndTransaction(ctx, "tx", producer, false), coordinator.ErrInvalidTransactionState)
		wants(t, second.EndTransaction(ctx, "tx", producer, true), coordinator.ErrConcurrentTransactions)
		parts.setBefore(nil)
		time.Sleep(10 * time.Second)
		must(t, second.EndTransaction(ctx, "tx", producer, true))
		if got := second.state("tx").State; got != txn.CompleteCommit || second.fetch("g", at("in", 0)).Offset != 5 {
			t.Errorf("state %v", got)
		}
		if markers := parts.at(at0); len(markers) != 1 || !markers[0].Commit {
			t.Errorf("markers %+v", markers)
		}
	})
}
