package coordinator_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// The decision is answered before its markers are placed. Until they are the next transaction waits, and a repetition too; the other outcome is
// refused.
func TestDeliveryIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx", "g")
		ctx := context.Background()
		good, bad := partitionOf("t", 0), partitionOf("t", 1)
		producer := p.register("tx")
		p.begin("tx", "g", producer, good)
		must(t, p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{bad}))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		parts.setBefore(func(_ context.Context, _ coordinator.Marker, at coordinator.TransactionPartition) error {
			if at == bad {
				return errUnreachable
			}
			return nil
		})
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		if parts.outcomes(good) != "C" || parts.outcomes(bad) != "" || p.fetch("g", at("in", 0)).Offset != 5 {
			t.Errorf("markers %q and %q", parts.outcomes(good), parts.outcomes(bad))
		}
		for range 20 {
			time.Sleep(time.Second)
			wants(t, p.AddPartitions(ctx, "tx", producer, nil), coordinator.ErrConcurrentTransactions)
			wants(t, p.EndTransaction(ctx, "tx", producer, true), coordinator.ErrConcurrentTransactions)
			wants(t, p.EndTransaction(ctx, "tx", producer, false), coordinator.ErrInvalidTransactionState)
		}
		if got := p.state("tx"); got.State != txn.PrepareCommit || len(got.Partitions) != 2 {
			t.Errorf("described as %+v", got)
		}
		// Whoever has its marker is not asked again, and the others not without a pause.
		if calls := parts.asked(); calls > 15 {
			t.Errorf("%d calls in 20 s", calls)
		}
		parts.setBefore(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		p.begin("tx", "", producer, good)
		if parts.outcomes(good) != "C" || parts.outcomes(bad) != "C" || parts.ignored() != 0 {
			t.Errorf("markers %q and %q, %d late", parts.outcomes(good), parts.outcomes(bad), parts.ignored())
		}
	})
}

// A participant that hangs is given up after a while and asked again; other transactions do not notice.
func TestDeliveryThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx", "other")
		ctx := context.Background()
		stuck, free := partitionOf("t", 0), partitionOf("t", 1)
		var hangs atomic.Bool
		hangs.Store(true)
		parts.setBefore(func(ctx context.Context, _ coordinator.Marker, at coordinator.TransactionPartition) error {
			if at == stuck && hangs.Load() {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		})
		for id, at := range map[string]coordinator.TransactionPartition{"tx": stuck, "other": free} {
			producer := p.register(id)
			p.begin(id, "", producer, at)
			must(t, p.EndTransaction(ctx, id, producer, true))
		}
		synctest.Wait()
		if got := p.state("other").State; got != txn.CompleteCommit {
			t.Errorf("other is %v", got)
		}
		hangs.Store(false)
		time.Sleep(31 * time.Second)
		if got := p.state("tx").State; got != txn.CompleteCommit {
			t.Errorf("tx is %v", got)
		}
	})
}

// What hangs does not keep a coordinator from ending.
func TestEndWhileDelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx")
		parts.setBefore(func(ctx context.Context, _ coordinator.Marker, _ coordinator.TransactionPartition) error {
			<-ctx.Done()
			return context.Cause(ctx)
		})
		producer := p.register("tx")
		p.begin("tx", "", producer, partitionOf("t", 0))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		synctest.Wait()
		began := time.Now()
		p.stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("ended after %v", took)
		}
	})
}

// silent answers about no partition.
type silent struct{ asked atomic.Int64 }

func (s *silent) Deliver(context.Context, coordinator.Marker, []coordinator.TransactionPartition) []error {
	s.asked.Add(1)
	return nil
}

func TestDeliveryWithoutAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		delivery := &silent{}
		p := start(t, prepared(t), coordinator.Options{ProducerIDs: &producerIDs{}, Delivery: delivery}, "tx")
		producer := p.register("tx")
		p.begin("tx", "", producer, partitionOf("t", 0))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		time.Sleep(time.Second)
		if got := p.state("tx").State; got != txn.PrepareCommit || delivery.asked.Load() < 2 {
			t.Errorf("state %v after %d calls", got, delivery.asked.Load())
		}
	})
}

// A transaction may have neither partitions nor groups.
func TestTransactionOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx")
		ctx := context.Background()
		producer := p.register("tx")
		wants(t, p.EndTransaction(ctx, "tx", producer, true), coordinator.ErrInvalidTransactionState)
		must(t, p.AddPartitions(ctx, "tx", producer, nil))
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		if got := p.state("tx").State; got != txn.CompleteCommit || parts.asked() != 0 {
			t.Errorf("state %v after %d calls", got, parts.asked())
		}
	})
}

// inSlotOf returns a group id of the same slot.
func inSlotOf(id string) string {
	for n := 0; ; n++ {
		if other := "g" + strconv.Itoa(n); slot.Of(other, slot.DefaultCount) == slot.Of(id, slot.DefaultCount) {
			return other
		}
	}
}

// Trimming carries a decision as it was made: its identity stays, however often the record moves.
func TestTrimmingKeepsTheIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, parts := transactional()
		busy := inSlotOf("tx")
		p := start(t, filesystem, options, "tx")
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		producer := p.register("tx")
		p.begin("tx", busy, producer, at0)
		must(t, p.stageAs("tx", busy, producer, commitOf("in", 0, 5)))
		parts.setBefore(isUnreachable)
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		decided := p.taken[slot.Of("tx", slot.DefaultCount)].Offsets().LogEnd
		for n := range int64(20000) {
			must(t, p.commit(busy, commitOf("t", 0, n)))
		}
		synctest.Wait()
		if o := p.taken[slot.Of("tx", slot.DefaultCount)].Offsets(); o.LogStart < decided {
			t.Fatalf("the log was not trimmed: %+v", o)
		}
		for range 2 {
			p.stop()
			p = start(t, filesystem, options, "tx")
		}
		parts.setBefore(nil)
		time.Sleep(10 * time.Second)
		markers := parts.at(at0)
		if len(markers) != 1 || markers[0].Identity >= decided {
			t.Fatalf("markers %+v, decided below %d", markers, decided)
		}
		// The group's slot knows the marker too: what an old leader still sends changes nothing.
		p.begin("tx", busy, producer, at0)
		must(t, p.stageAs("tx", busy, producer, commitOf("in", 0, 9)))
		must(t, p.WriteOffsetMarker(ctx, slot.Of(busy, slot.DefaultCount), markers[0]))
		if got := p.fetch(busy, at("in", 0)).Offset; got != 5 {
			t.Errorf("a late marker moved the offset to %d", got)
		}
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		synctest.Wait()
		if got := p.fetch(busy, at("in", 0)).Offset; got != 9 || parts.outcomes(at0) != "CC" {
			t.Errorf("offset %d, markers %s", got, parts.outcomes(at0))
		}
	})
}

// A full volume refuses every step, which may be tried again; decisions wait for room to be completed.
func TestTransactionsOnAFullVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := vfs.NewMem(16 << 20)
		volume, err := storage.OpenVolume(filesystem, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: 1 << 20})
		must(t, err)
		prepare(t, filesystem)
		options, parts := transactional()
		p := beginOn(t, filesystem, volume, options, "tx", "decided", "g")
		synctest.Wait()
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		producer, other := p.register("tx"), p.register("decided")
		p.begin("tx", "g", producer, at0)
		p.begin("decided", "g", other, at0)
		must(t, p.stageAs("decided", "g", other, commitOf("in", 1, 7)))
		parts.setBefore(isUnreachable)
		must(t, p.EndTransaction(ctx, "decided", other, true))

		free := fill(t, filesystem)
		must(t, volume.Refresh())
		parts.setBefore(nil)
		_, err = p.InitProducerID(ctx, "tx", nobodyYet())
		wants(t, err, group.ErrNotAvailable)
		wants(t, p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{partitionOf("t", 1)}), group.ErrNotAvailable)
		wants(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)), group.ErrNotAvailable)
		wants(t, p.EndTransaction(ctx, "tx", producer, true), group.ErrNotAvailable)
		time.Sleep(20 * time.Second)
		if got := p.state("decided").State; got != txn.PrepareCommit {
			t.Errorf("without room it is %v", got)
		}
		if got := p.state("tx"); got.State != txn.Ongoing || len(got.Partitions) != 1 || got.Producer != producer {
			t.Errorf("what was refused left %+v", got)
		}

		free()
		must(t, volume.Refresh())
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		time.Sleep(10 * time.Second)
		if got := p.state("decided").State; got != txn.CompleteCommit || p.fetch("g", at("in", 0)).Offset != 5 || p.fetch("g", at("in", 1)).Offset != 7 {
			t.Errorf("with room again it is %v", got)
		}
	})
}

// Whoever comes while markers are being placed waits for a moment: being told to come again would take longer.
func TestNextTransactionWaitsForMarkers(t *testing.T) {
	cases := []struct {
		name    string
		takes   time.Duration // to place the markers
		want    error
		answers time.Duration // after
	}{
		{"soon", 40 * time.Millisecond, nil, 40 * time.Millisecond},
		{"late", time.Second, coordinator.ErrConcurrentTransactions, 100 * time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options, parts := transactional()
				parts.setBefore(func(context.Context, coordinator.Marker, coordinator.TransactionPartition) error {
					time.Sleep(c.takes)
					return nil
				})
				p := start(t, prepared(t), options, "tx")
				ctx := context.Background()
				at0 := partitionOf("t", 0)
				producer := p.register("tx")
				for name, ask := range map[string]func() error{
					"add partitions": func() error { return p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{at0}) },
					"add offsets":    func() error { return p.AddOffsets(ctx, "tx", producer, inSlotOf("tx")) },
					"end again":      func() error { return p.EndTransaction(ctx, "tx", producer, true) },
					"register": func() (err error) {
						producer, err = p.InitProducerID(ctx, "tx", nobodyYet())
						return err
					},
				} {
					if producer.ID < 0 { // it was not told in time
						producer = p.register("tx")
					}
					p.begin("tx", "", producer, at0)
					must(t, p.EndTransaction(ctx, "tx", producer, true))
					began := time.Now()
					err := ask()
					if took := time.Since(began); !errors.Is(err, c.want) || took != c.answers {
						t.Errorf("%s: %v after %v", name, err, took)
					}
					time.Sleep(2 * time.Second)
					if name == "add partitions" || name == "add offsets" {
						_ = p.EndTransaction(ctx, "tx", producer, true) // where it was granted
						time.Sleep(2 * time.Second)
					}
				}
			})
		})
	}
}

// The wait ends with the caller's patience, and with the leadership.
func TestWaitForMarkersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, parts := transactional()
		parts.setBefore(isUnreachable)
		p := start(t, prepared(t), options, "tx")
		producer := p.register("tx")
		p.begin("tx", "", producer, partitionOf("t", 0))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		wants(t, p.AddPartitions(ctx, "tx", producer, nil), context.DeadlineExceeded)
		answer := make(chan error, 1)
		go func() { answer <- p.AddPartitions(context.Background(), "tx", producer, nil) }()
		synctest.Wait()
		p.stop()
		wants(t, <-answer, coordinator.ErrNotCoordinator)
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("took %v", took)
		}
	})
}
