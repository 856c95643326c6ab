package coordinator_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx", "g")
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		producer := p.register("tx")
		if producer != (coordinator.Producer{ID: 1}) {
			t.Fatalf("first producer is %+v", producer)
		}
		for n, commit := range []bool{true, false, true} {
			p.begin("tx", "g", producer, at0)
			results, err := p.VerifyPartitions(ctx, "tx", producer, []coordinator.TransactionPartition{at0, partitionOf("t", 1)})
			must(t, err)
			must(t, results[0])
			wants(t, results[1], coordinator.ErrInvalidTransactionState)
			position := int64(n + 1)
			must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, position)))
			if got := p.fetch("g", at("in", 0)).Offset; got >= position {
				t.Errorf("a staged offset is seen: %d", got)
			}
			if got := p.state("tx"); got.State != txn.Ongoing || len(got.Partitions) != 1 || len(got.Groups) != 1 {
				t.Errorf("described as %+v", got)
			}
			must(t, p.EndTransaction(ctx, "tx", producer, commit))
			synctest.Wait()
			if got := p.fetch("g", at("in", 0)).Offset; (got == position) != commit {
				t.Errorf("transaction %d: offset %d", n, got)
			}
		}
		if got := parts.outcomes(at0); got != "CAC" {
			t.Errorf("markers %s", got)
		}
		if got := p.state("tx"); got.State != txn.CompleteCommit || len(got.Partitions)+len(got.Groups) != 0 {
			t.Errorf("described as %+v", got)
		}
	})
}

func TestRegistrationRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, _ := transactional()
		options.Transactions.MaxTimeout = time.Hour
		p := start(t, prepared(t), options, "tx")
		ctx := context.Background()
		cases := []struct {
			name    string
			id      string
			timeout time.Duration
			as      coordinator.Producer
			want    error
		}{
			{"no id", "", time.Minute, txn.NoProducer(), coordinator.ErrInvalidTransactionRequest},
			{"epoch alone", "tx", time.Minute, coordinator.Producer{ID: -1, Epoch: 3}, coordinator.ErrInvalidTransactionRequest},
			{"id alone", "tx", time.Minute, coordinator.Producer{ID: 3, Epoch: -1}, coordinator.ErrInvalidTransactionRequest},
			{"no timeout", "tx", 0, txn.NoProducer(), coordinator.ErrInvalidTransactionTimeout},
			{"negative timeout", "elsewhere", -1, txn.NoProducer(), coordinator.ErrInvalidTransactionTimeout},
			{"too long", "elsewhere", time.Hour + 1, txn.NoProducer(), coordinator.ErrInvalidTransactionTimeout},
			{"elsewhere", "elsewhere", time.Hour, txn.NoProducer(), coordinator.ErrNotCoordinator},
			{"longest", "tx", time.Hour, txn.NoProducer(), nil},
			{"as another", "tx", time.Hour, coordinator.Producer{ID: 99, Epoch: 0}, coordinator.ErrProducerFenced},
			{"as replaced", "tx", time.Hour, coordinator.Producer{ID: 1, Epoch: 9}, coordinator.ErrProducerFenced},
			{"as oneself", "tx", time.Hour, coordinator.Producer{ID: 1, Epoch: 0}, nil},
			{"as oneself, again", "tx", time.Hour, coordinator.Producer{ID: 1, Epoch: 0}, nil},
		}
		for _, c := range cases {
			got, err := p.InitProducerID(ctx, c.id, coordinator.InitProducer{Timeout: c.timeout, Producer: c.as})
			if !errors.Is(err, c.want) || (err != nil && got != txn.NoProducer()) {
				t.Errorf("%s: %+v, %v, want %v", c.name, got, err, c.want)
			}
		}
		if got := p.state("tx"); got.Producer != (coordinator.Producer{ID: 1, Epoch: 1}) || got.Timeout != time.Hour || got.Start != -1 {
			t.Errorf("described as %+v", got)
		}
	})
}

// Another instance aborts what the first left open, and gets an epoch two above.
func TestRegistrationAbortsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, parts := transacting(t, "tx", "g")
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		old := p.register("tx")
		p.begin("tx", "g", old, at0)
		must(t, p.stageAs("tx", "g", old, commitOf("in", 0, 5)))
		parts.setBefore(isUnreachable)
		for range 3 {
			_, err := p.InitProducerID(ctx, "tx", nobodyYet())
			wants(t, err, coordinator.ErrConcurrentTransactions)
			synctest.Wait()
		}
		wants(t, p.EndTransaction(ctx, "tx", old, true), coordinator.ErrProducerFenced)
		wants(t, p.AddPartitions(ctx, "tx", old, nil), coordinator.ErrProducerFenced)
		parts.setBefore(nil)
		producer := p.register("tx")
		if producer != (coordinator.Producer{ID: old.ID, Epoch: old.Epoch + 2}) {
			t.Errorf("from %+v to %+v", old, producer)
		}
		markers := parts.at(at0)
		if len(markers) != 1 || markers[0].Commit || markers[0].ProducerEpoch != old.Epoch+1 || markers[0].TransactionalID != "tx" || markers[0].CoordinatorEpoch < 1 {
			t.Errorf("markers %+v", markers)
		}
		if got := p.fetch("g", at("in", 0)); got.Offset != -1 {
			t.Errorf("the offset of an aborted transaction is %d", got.Offset)
		}
		_, err := p.VerifyPartitions(ctx, "tx", old, []coordinator.TransactionPartition{at0})
		wants(t, err, coordinator.ErrProducerFenced)
		wants(t, p.stageAs("tx", "g", old, commitOf("in", 0, 5)), coordinator.ErrInvalidProducerEpoch)
	})
}

// asked asks everything about a transaction and returns the errors by name.
func asked(p *process, id string, producer coordinator.Producer) map[string]error {
	ctx := context.Background()
	got := map[string]error{
		"add partitions": p.AddPartitions(ctx, id, producer, nil),
		"add offsets":    p.AddOffsets(ctx, id, producer, "g"),
		"commit":         p.EndTransaction(ctx, id, producer, true),
		"abort":          p.EndTransaction(ctx, id, producer, false),
	}
	_, got["verify"] = p.VerifyPartitions(ctx, id, producer, nil)
	return got
}

func TestWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := transacting(t, "tx", "unknown")
		ctx := context.Background()
		producer := p.register("tx")
		cases := []struct {
			name, id string
			producer coordinator.Producer
			want     error
		}{
			{"no id", "", producer, coordinator.ErrInvalidTransactionRequest},
			{"unknown id", "unknown", producer, coordinator.ErrInvalidProducerIDMapping},
			{"another producer", "tx", coordinator.Producer{ID: 99}, coordinator.ErrInvalidProducerIDMapping},
			{"another epoch", "tx", coordinator.Producer{ID: producer.ID, Epoch: 1}, coordinator.ErrProducerFenced},
			{"elsewhere", "elsewhere", producer, coordinator.ErrNotCoordinator},
		}
		for _, c := range cases {
			for name, err := range asked(p, c.id, c.producer) {
				if !errors.Is(err, c.want) {
					t.Errorf("%s, %s: %v, want %v", c.name, name, err, c.want)
				}
			}
		}
		for id, want := range map[string]error{
			"": coordinator.ErrInvalidTransactionRequest, "unknown": coordinator.ErrTransactionalIDNotFound, "elsewhere": coordinator.ErrNotCoordinator,
		} {
			_, err := p.DescribeTransaction(ctx, id)
			if !errors.Is(err, want) {
				t.Errorf("describe %q: %v", id, err)
			}
		}
		for _, number := range []int{-1, slot.DefaultCount, slot.Of("elsewhere", slot.DefaultCount)} {
			wants(t, p.WriteOffsetMarker(ctx, number, coordinator.Marker{}), coordinator.ErrNotCoordinator)
		}
		if len(p.list(coordinator.TransactionFilter{}).Transactions) != 1 {
			t.Error("a question made a transactional id")
		}
	})
}

func (p *process) list(f coordinator.TransactionFilter) coordinator.TransactionList {
	p.t.Helper()
	list, err := p.ListTransactions(context.Background(), f)
	must(p.t, err)
	return list
}

func TestListTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, parts := transactional()
		ids := []string{"a-done", "b-empty", "c-open", "d-prepared"}
		p := start(t, prepared(t), options, ids...)
		ctx := context.Background()
		at0 := partitionOf("t", 0)
		producers := map[string]coordinator.Producer{}
		for _, id := range ids {
			producers[id] = p.register(id)
		}
		for _, id := range []string{"a-done", "c-open", "d-prepared"} {
			p.begin(id, "", producers[id], at0)
		}
		must(t, p.EndTransaction(ctx, "a-done", producers["a-done"], true))
		synctest.Wait()
		parts.setBefore(isUnreachable)
		must(t, p.EndTransaction(ctx, "d-prepared", producers["d-prepared"], false))
		time.Sleep(3 * time.Second)
		p.begin("b-empty", "", producers["b-empty"], at0)
		cases := []struct {
			name    string
			filter  coordinator.TransactionFilter
			want    string
			unknown []string
		}{
			{"all", coordinator.TransactionFilter{}, "a-done CompleteCommit, b-empty Ongoing, c-open Ongoing, d-prepared PrepareAbort", nil},
			{"states", coordinator.TransactionFilter{States: []string{"Ongoing", "PrepareAbort"}}, "b-empty Ongoing, c-open Ongoing, d-prepared PrepareAbort", nil},
			{"unknown states", coordinator.TransactionFilter{States: []string{"ongoing", "Dead", "Empty"}}, "", []string{"ongoing"}},
			{"producers", coordinator.TransactionFilter{ProducerIDs: []int64{producers["a-done"].ID, 99}}, "a-done CompleteCommit", nil},
		}
		for _, c := range cases {
			list := p.list(c.filter)
			var told []string
			for _, l := range list.Transactions {
				if l.ProducerID != producers[l.ID].ID {
					t.Errorf("%s has producer %d", l.ID, l.ProducerID)
				}
				told = append(told, l.ID+" "+l.State.String())
			}
			if got := strings.Join(told, ", "); got != c.want || !slices.Equal(list.UnknownStates, c.unknown) {
				t.Errorf("%s: %s, unknown %v, want %s", c.name, got, list.UnknownStates, c.want)
			}
		}
	})
}

// A list without what a slot that loads holds would let tools abort what they take for forgotten.
func TestListWhileLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := holding(vfs.OpReadAt)
		fault := vfs.NewFault(prepared(t), reads.hook)
		options, _ := transactional()
		p := start(t, fault, options, "tx")
		producer := p.register("tx")
		p.stop()
		p = beginWith(t, fault, nil, options, reads.shut, "tx")
		synctest.Wait()
		_, err := p.ListTransactions(context.Background(), coordinator.TransactionFilter{})
		wants(t, err, coordinator.ErrLoading)
		for name, err := range asked(p, "tx", producer) {
			if !errors.Is(err, coordinator.ErrLoading) {
				t.Errorf("%s: %v", name, err)
			}
		}
		wants(t, p.WriteOffsetMarker(context.Background(), slot.Of("tx", slot.DefaultCount), coordinator.Marker{}), coordinator.ErrLoading)
		reads.open()
		synctest.Wait()
		if list := p.list(coordinator.TransactionFilter{}); len(list.Transactions) != 1 {
			t.Errorf("listed %+v", list)
		}
	})
}

// Where nobody gives out producer ids or delivers markers, the zero options say so, and nothing is lost.
func TestWithoutProducerIDsOrDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := prepared(t)
		p := start(t, filesystem, coordinator.Options{}, "tx")
		_, err := p.InitProducerID(context.Background(), "tx", nobodyYet())
		wants(t, err, group.ErrNotAvailable)
		p.stop()
		p = start(t, filesystem, coordinator.Options{ProducerIDs: &producerIDs{}}, "tx")
		producer := p.register("tx")
		p.begin("tx", "", producer, partitionOf("t", 0))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		time.Sleep(time.Minute)
		if got := p.state("tx").State; got != txn.PrepareCommit {
			t.Errorf("state %v", got)
		}
		p.stop()
		options, parts := transactional()
		p = start(t, filesystem, options, "tx")
		synctest.Wait()
		if got := p.state("tx").State; got != txn.CompleteCommit || parts.outcomes(partitionOf("t", 0)) != "C" {
			t.Errorf("state %v, markers %s", got, parts.outcomes(partitionOf("t", 0)))
		}
	})
}

// Whatever an id looks like, it is kept.
func TestTransactionalIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := vfs.NewCrash(64 << 20)
		prepare(t, crash)
		options, parts := transactional()
		ids := []string{"a/b\\c.d", "..", "\"\x00\n", strings.Repeat("x", 1000), "😀", "not\xffutf8", " "}
		p := start(t, crash, options, ids...)
		ctx := context.Background()
		producers := map[string]coordinator.Producer{}
		for n, id := range ids {
			producers[id] = p.register(id)
			p.begin(id, id, producers[id], partitionOf("t", int32(n)))
			must(t, p.stageAs(id, id, producers[id], commitOf("in", 0, int64(n))))
		}
		after := crash.PowerCut(vfs.SurviveNone)
		p.stop()
		p = start(t, after, options, ids...)
		for n, id := range ids {
			if got := p.state(id); got.Producer != producers[id] || len(got.Partitions) != 1 || len(got.Groups) != 1 {
				t.Errorf("%q is %+v", id, got)
			}
			must(t, p.EndTransaction(ctx, id, producers[id], true))
			synctest.Wait()
			if parts.outcomes(partitionOf("t", int32(n))) != "C" || p.fetch(id, at("in", 0)).Offset != int64(n) {
				t.Errorf("%q was not committed", id)
			}
		}
	})
}
