package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		filesystem := vfs.NewMem(64 << 20)
		prepare(t, filesystem)
		options, parts := transactional()
		p := start(t, filesystem, options, "tx", "g")
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
