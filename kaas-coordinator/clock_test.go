package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
	"github.com/kaas-rs/kaas/kaas-storage/clock"
)

// However the wall clock leaps, a transaction is open for as long as its producer wanted, also where another leader goes on with it.
func TestTransactionsTimeOutWhateverTheWallClockSays(t *testing.T) {
	for name, leap := range map[string]time.Duration{"forward": 5 * time.Hour, "back": -5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				filesystem := prepared(t)
				options, parts := transactional()
				var ahead atomic.Int64 // nanoseconds
				ahead.Store(int64(leap))
				options.Clock = clock.New(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
				p := start(t, filesystem, options, "tx")
				at0 := partitionOf("t", 0)
				producer := p.register("tx")
				p.begin("tx", "", producer, at0)
				ahead.Store(int64(-leap))
				time.Sleep(45 * time.Second)
				if got := p.state("tx").State; got != txn.Ongoing {
					t.Fatalf("after 45 s it is %v", got)
				}
				must(t, p.AddPartitions(context.Background(), "tx", producer, []coordinator.TransactionPartition{partitionOf("t", 1)}))
				if leap > 0 {
					// What is left of the minute cannot be known from a time of day that lies in the future: it begins anew.
					p.stop()
					p = start(t, filesystem, options, "tx")
					time.Sleep(45 * time.Second)
				}
				time.Sleep(30 * time.Second)
				if got := p.state("tx").State; got != txn.CompleteAbort || parts.outcomes(at0) != "A" {
					t.Errorf("it is %v, markers %s", got, parts.outcomes(at0))
				}
			})
		})
	}
}

// A wall clock that leaps forward and is set right within an hour makes no offset, id or marker old.
func TestNothingExpiresByALeapOfTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, _ := transactional()
		options.Offsets.Retention, options.Transactions.IDExpiry, options.Transactions.ProducerExpiry = 3*time.Hour, 3*time.Hour, 3*time.Hour
		options.Transactions.IDReapInterval = 10 * time.Minute
		var ahead atomic.Int64 // nanoseconds
		options.Clock = clock.New(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
		p := start(t, prepared(t), options, "tx", "g")
		producer := p.register("tx")
		p.begin("tx", "g", producer, partitionOf("t", 0))
		must(t, p.stageAs("tx", "g", producer, commitOf("in", 0, 5)))
		must(t, p.EndTransaction(context.Background(), "tx", producer, true))
		time.Sleep(time.Second)
		left := func() (offset int64, ids int) {
			return p.fetch("g", at("in", 0)).Offset, len(p.list(coordinator.TransactionFilter{}).Transactions)
		}
		ahead.Store(int64(100 * time.Hour))
		time.Sleep(50 * time.Minute)
		ahead.Store(0)
		time.Sleep(10 * time.Minute)
		if offset, ids := left(); offset != 5 || ids != 1 {
			t.Errorf("offset %d, %d ids", offset, ids)
		}
		ahead.Store(int64(100 * time.Hour))
		time.Sleep(90 * time.Minute)
		if offset, ids := left(); offset != -1 || ids != 0 {
			t.Errorf("a clock that stays ahead is not believed: offset %d, %d ids", offset, ids)
		}
	})
}
