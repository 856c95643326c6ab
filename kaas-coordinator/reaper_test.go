package coordinator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestTransactionsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, parts := transactional()
		p := start(t, filesystem, options, "tx", "idle", "g")
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		p.register("idle")
		producer := p.register("tx")
		p.begin("tx", "g", producer, at0)
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		// The clock runs from the beginning, whatever is added later and whoever leads.
		time.Sleep(30 * time.Second)
		must(t, p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{partitionOf("t", 1)}))
		p.stop()
		p = start(t, filesystem, options, "tx", "idle", "g")
		time.Sleep(29 * time.Second)
		stable := coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("in", 0)}}
		fetched, err := p.Fetch(ctx, "g", stable)
		must(t, err)
		wants(t, fetched[0].Err, coordinator.ErrUnstableOffset)
		if got := p.state("tx").State; got != txn.Ongoing {
			t.Fatalf("after 59 s it is %v", got)
		}
		time.Sleep(12 * time.Second)
		if got := p.state("tx"); got.State != txn.CompleteAbort || got.Producer.Epoch != producer.Epoch+1 {
			t.Fatalf("after 71 s it is %+v", got)
		}
		if parts.outcomes(at0) != "A" || parts.outcomes(partitionOf("t", 1)) != "A" || parts.at(at0)[0].ProducerEpoch != producer.Epoch+1 {
			t.Errorf("markers %+v", parts.at(at0))
		}
		fetched, err = p.Fetch(ctx, "g", stable)
		must(t, err)
		must(t, fetched[0].Err)
		// The producer is told that it was replaced, whatever it tries.
		for name, err := range asked(p, "tx", producer) {
			if !errors.Is(err, coordinator.ErrProducerFenced) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wants(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)), coordinator.ErrInvalidProducerEpoch)
		_, err = p.InitProducerID(ctx, "tx", coordinator.InitProducer{Timeout: time.Minute, Producer: producer})
		wants(t, err, coordinator.ErrProducerFenced)
		if got := p.state("idle").State; got != txn.Empty {
			t.Errorf("the idle one is %v", got)
		}
		p.begin("tx", "g", p.register("tx"), at0)
	})
}

// A transaction that cannot be aborted, because there is no room to decide it, stays open until there is. The log tells so once, and when it is over.
func TestTimeoutsOnAFullVolume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := vfs.NewMem(16 << 20)
		volume, err := storage.OpenVolume(filesystem, storage.VolumeOptions{ClusterID: "c", ID: "v", Reserve: 1 << 20})
		must(t, err)
		prepare(t, filesystem)
		options, parts := transactional()
		log := &strings.Builder{}
		options.Logger = zerolog.New(zerolog.SyncWriter(log)).Level(zerolog.WarnLevel)
		ids := []string{"one", "two", "three"} // in slots of their own
		p := beginOn(t, filesystem, volume, options, ids...)
		synctest.Wait()
		for i, id := range ids {
			p.begin(id, "", p.register(id), partitionOf("t", int32(i)))
		}
		free := fill(t, filesystem)
		must(t, volume.Refresh())
		time.Sleep(10 * time.Minute)
		if got := p.state("one").State; got != txn.Ongoing {
			t.Errorf("without room it is %v", got)
		}
		synctest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 1 {
			t.Errorf("%d lines in the log:\n%s", lines, log)
		}
		free()
		must(t, volume.Refresh())
		time.Sleep(time.Minute)
		if got := p.state("one").State; got != txn.CompleteAbort || parts.outcomes(partitionOf("t", 0)) != "A" {
			t.Errorf("with room again it is %v", got)
		}
	})
}

// A decision is never revoked, however long its markers take.
func TestDecisionsDoNotTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, parts := transactional()
		options.Transactions.IDExpiry = time.Hour
		p := start(t, prepared(t), options, "tx")
		parts.setBefore(isUnreachable)
		producer := p.register("tx")
		p.begin("tx", "", producer, partitionOf("t", 0))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		time.Sleep(3 * time.Hour) // longer than ids are kept
		if got := p.state("tx"); got.State != txn.PrepareCommit || got.Producer != producer {
			t.Errorf("described as %+v", got)
		}
		parts.setBefore(nil)
		time.Sleep(10 * time.Second)
		if got := parts.outcomes(partitionOf("t", 0)); got != "C" {
			t.Errorf("markers %s", got)
		}
	})
}

func TestIDsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, _ := transactional()
		options.Transactions.MaxTimeout = 30 * 24 * time.Hour
		ids := []string{"tx", "used", "open", "never"}
		p := start(t, filesystem, options, ids...)
		ctx := context.Background()
		day := 24 * time.Hour
		at0 := partitionOf("t", 0)
		producers := map[string]coordinator.Producer{}
		for _, id := range ids {
			r := nobodyYet()
			r.Timeout = 30 * day
			var err error
			producers[id], err = p.InitProducerID(ctx, id, r)
			must(t, err)
		}
		p.begin("open", "", producers["open"], at0)
		p.begin("tx", "", producers["tx"], at0)
		must(t, p.EndTransaction(ctx, "tx", producers["tx"], true))
		time.Sleep(6 * day)
		p.begin("used", "", producers["used"], at0)
		must(t, p.EndTransaction(ctx, "used", producers["used"], false))
		time.Sleep(day + 2*time.Hour)
		check := func(p *process) {
			t.Helper()
			if list := p.list(coordinator.TransactionFilter{}); len(list.Transactions) != 2 || list.Transactions[0].ID != "open" || list.Transactions[1].ID != "used" {
				t.Errorf("left are %+v", list.Transactions)
			}
			for _, id := range []string{"tx", "never"} {
				wants(t, p.AddPartitions(ctx, id, producers[id], nil), coordinator.ErrInvalidProducerIDMapping)
				_, err := p.DescribeTransaction(ctx, id)
				wants(t, err, coordinator.ErrTransactionalIDNotFound)
			}
		}
		check(p)
		p.stop()
		p = start(t, filesystem, options, ids...)
		check(p)
		// Whoever was forgotten begins anew, with an id that nobody had.
		again, err := p.InitProducerID(ctx, "tx", coordinator.InitProducer{Timeout: time.Minute, Producer: producers["tx"]})
		must(t, err)
		if again != (coordinator.Producer{ID: 5}) {
			t.Errorf("begins anew as %+v", again)
		}
	})
}

// marksIn returns how many markers a replay of a slot finds. The process must have been stopped.
func marksIn(t *testing.T, filesystem vfs.FS, number int) int {
	t.Helper()
	reader := begin(t, filesystem, coordinator.Options{})
	defer reader.stop()
	partition, err := reader.take(context.Background(), number)
	must(t, err)
	marks := map[int64]bool{}
	s, err := slot.Open(context.Background(), partition, func(r slot.Record, _ int64) error {
		if r.Key.Kind == slot.KindMarker {
			marks[r.Key.ProducerID] = true
			if r.Value == nil {
				delete(marks, r.Key.ProducerID)
			}
		}
		return nil
	}, slot.Options{})
	must(t, err)
	s.Close()
	return len(marks)
}

// The last marker of a producer goes after a day, unless the producer has staged offsets meanwhile: the marker that ends them must be told from late ones.
func TestMarkersExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		options, _ := transactional()
		options.Transactions.MaxTimeout = 90 * time.Hour
		p := start(t, filesystem, options, "tx", "g")
		ctx := context.Background()
		r := nobodyYet()
		r.Timeout = 90 * time.Hour
		producer, err := p.InitProducerID(ctx, "tx", r)
		must(t, err)
		at0 := partitionOf("t", 0)
		p.begin("tx", "g", producer, at0)
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		p.begin("tx", "g", producer, at0)
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 6)))
		time.Sleep(26 * time.Hour)
		p.stop()
		if got := marksIn(t, filesystem, slot.Of("g", slot.DefaultCount)); got != 1 {
			t.Errorf("%d markers while a transaction is open", got)
		}
		p = start(t, filesystem, options, "tx", "g")
		must(t, p.EndTransaction(ctx, "tx", producer, true))
		time.Sleep(23 * time.Hour)
		p.stop()
		if got := marksIn(t, filesystem, slot.Of("g", slot.DefaultCount)); got != 1 {
			t.Errorf("%d markers after 23 h", got)
		}
		p = start(t, filesystem, options, "tx", "g")
		time.Sleep(2 * time.Hour)
		if got := p.fetch("g", at("in", 0)).Offset; got != 6 {
			t.Errorf("offset %d", got)
		}
		p.stop()
		if got := marksIn(t, filesystem, slot.Of("g", slot.DefaultCount)); got != 0 {
			t.Errorf("%d markers after 25 h", got)
		}
	})
}
