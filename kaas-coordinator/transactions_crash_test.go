package coordinator_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// attempts are what became of the transactions of one producer: C or A where that was acknowledged, ? where it was asked for, and - where it was not.
type attempts struct {
	producer *coordinator.Producer
	outcomes string
	trimmed  bool
}

// shared is in every transaction, own(n) in the nth only.
var shared = partitionOf("shared", 0)

func own(n int) coordinator.TransactionPartition { return partitionOf("own", int32(n)) }

// bulk is metadata that lets the log grow past what is worth trimming.
var bulk = strings.Repeat("m", 1200<<10)

// transact runs transactions until one fails: commits and aborts in turn, each with an offset of group "g", the third with a trim of both slots between its
// decision and its markers.
func transact(p *process, parts *participants) (done attempts) {
	ctx := context.Background()
	defer parts.setBefore(nil)
	producer, err := p.InitProducerID(ctx, "tx", nobodyYet())
	if err != nil {
		return done
	}
	done.producer = &producer
	note := func(outcome string) { done.outcomes = done.outcomes[:len(done.outcomes)-1] + outcome }
	for n := range 5 {
		done.outcomes += "-"
		if p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{shared}) != nil ||
			p.AddPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{own(n)}) != nil ||
			p.AddOffsets(ctx, "tx", producer, "g") != nil ||
			p.stageAs("tx", "g", producer, commitOf("in", 0, int64(n))) != nil {
			return done
		}
		if n == 2 {
			parts.setBefore(isUnreachable)
		}
		commit := n%2 == 0
		note("?")
		if p.EndTransaction(ctx, "tx", producer, commit) != nil {
			return done
		}
		note(map[bool]string{true: "C", false: "A"}[commit])
		if n == 2 {
			synctest.Wait()
			if !trimBoth(p) {
				return done
			}
			done.trimmed = true
			parts.setBefore(nil)
		}
		time.Sleep(10 * time.Second)
	}
	return done
}

// trimBoth makes both slots trim themselves, and reports whether they did.
func trimBoth(p *process) bool {
	for _, id := range []string{inSlotOf("tx"), inSlotOf("g")} {
		large := commitOf("large", 0, 1)
		large.Metadata = bulk
		if p.commit(id, large) != nil || p.commit(id, commitOf("large", 0, 2)) != nil {
			return false
		}
	}
	synctest.Wait()
	return p.taken[slot.Of("tx", slot.DefaultCount)].Offsets().LogStart > 0 && p.taken[slot.Of("g", slot.DefaultCount)].Offsets().LogStart > 0
}

// hold checks that everything is decided, the same everywhere, and as it was acknowledged.
func (done attempts) hold(t *testing.T, step int64, p *process, parts *participants) {
	t.Helper()
	ctx := context.Background()
	var all string
	last := int64(-1)
	for n, told := range done.outcomes {
		got := parts.outcomes(own(n))
		if len(got) > 1 || (strings.ContainsRune("CA", told) && got != string(told)) || (told == '-' && got == "C") {
			t.Errorf("step %d: transaction %d has markers %q, acknowledged was %c", step, n, got, told)
		}
		if got == "C" {
			last = int64(n)
		}
		all += got
	}
	// The last one may have come as far as the first partition only.
	if got := parts.outcomes(shared); got != all && got != all+"A" {
		t.Errorf("step %d: shared partition has markers %q, the others %q", step, got, all)
	}
	fetched, err := p.Fetch(ctx, "g", coordinator.FetchRequest{RequireStable: true, Partitions: []offset.Partition{at("in", 0)}})
	if err != nil || fetched[0].Err != nil || fetched[0].Offset != last {
		t.Errorf("step %d: group is at %+v, %v, want %d", step, fetched, err, last)
	}
	for _, l := range p.list(coordinator.TransactionFilter{}).Transactions {
		if !l.State.IsIdle() {
			t.Errorf("step %d: %s is %v", step, l.ID, l.State)
		}
	}
	// Life goes on: with the same producer id, if anybody was told it.
	producer, err := p.InitProducerID(ctx, "tx", nobodyYet())
	if err != nil || (done.producer != nil && (producer.ID != done.producer.ID || producer.Epoch <= done.producer.Epoch)) {
		t.Errorf("step %d: producer %+v becomes %+v, %v", step, done.producer, producer, err)
	}
	p.begin("tx", "g", producer, shared)
	must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 100)))
	must(t, p.EndTransaction(ctx, "tx", producer, true))
	synctest.Wait()
	if p.state("tx").State != txn.CompleteCommit || p.fetch("g", at("in", 0)).Offset != 100 {
		t.Errorf("step %d: the next transaction is %v", step, p.state("tx").State)
	}
}

// TestTransactionsCrashAtEveryCall ends the power at each call to the file system, through registration, decision, delivery, completion and
// trimming, and looks at what a later coordinator makes of it.
func TestTransactionsCrashAtEveryCall(t *testing.T) {
	for name, survive := range map[string]func(crash *vfs.Crash, step int64) vfs.Choice{
		"nothing survives":    func(*vfs.Crash, int64) vfs.Choice { return vfs.SurviveNone },
		"everything survives": func(*vfs.Crash, int64) vfs.Choice { return vfs.SurviveAll },
		"one change survives": func(crash *vfs.Crash, step int64) vfs.Choice {
			return vfs.SurviveOnly(int(step) % max(len(crash.Pending()), 1))
		},
		"some survive":        func(_ *vfs.Crash, step int64) vfs.Choice { return vfs.SurviveSeeded(uint64(step)) },
		"some others survive": func(_ *vfs.Crash, step int64) vfs.Choice { return vfs.SurviveSeeded(uint64(step) << 32) },
	} {
		t.Run(name, func(t *testing.T) {
			prepared := vfs.NewCrash(64 << 20)
			prepare(t, prepared)
			step, stride := int64(1), int64(1)
			if testing.Short() {
				stride = 8
			}
			for !crashTransactions(t, prepared, step, survive) && !t.Failed() {
				step += stride
			}
			t.Logf("fewer than %d calls", step)
		})
	}
}

// crashTransactions ends the power at one call, and reports that there are fewer.
func crashTransactions(t *testing.T, prepared *vfs.Crash, step int64, survive func(crash *vfs.Crash, step int64) vfs.Choice) (ended bool) {
	ids := []string{"tx", "g"}
	synctest.Test(t, func(t *testing.T) {
		crash := prepared.PowerCut(vfs.SurviveAll)
		fuse := newFuse(step, errors.New("power cut"))
		options, parts := transactional()
		options.Offsets.MaxMetadata = len(bulk)
		p := begin(t, vfs.NewFault(crash, fuse.hook), options, ids...)
		synctest.Wait()
		done := transact(p, parts)
		after := crash.PowerCut(survive(crash, step))
		p.stop()
		second := start(t, after, options, ids...)
		time.Sleep(2 * time.Minute) // whatever is open times out
		done.hold(t, step, second, parts)
		ended = !fuse.blown()
		if ended && (done.outcomes != "CACAC" || !done.trimmed) {
			t.Errorf("without a crash only %+v was done", done)
		}
	})
	return ended
}
