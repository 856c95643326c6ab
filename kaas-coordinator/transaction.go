package coordinator

import (
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// transaction is what a slot knows of a transactional id.
type transaction struct {
	txn.Transaction
	rests slot.Pending // its last append
	// complete is closed when the markers of a decision are placed; nil unless it is decided.
	complete chan struct{}
	// open is since when it is open, by this process's monotonic clock: Start is a time of day, which may be set. Zero unless it is Ongoing.
	open time.Time
}

// hasTimedOut reports whether the transaction is open for longer than its producer wanted.
func (t *transaction) hasTimedOut(now time.Time) bool {
	return t.State == txn.Ongoing && now.Sub(t.open) > t.Timeout
}

// openSince is when the transaction was begun that next has open, zero for none. before is what was known of it, maybe nil.
func openSince(before *transaction, next txn.Transaction) time.Time {
	switch {
	case next.State != txn.Ongoing:
		return time.Time{}
	case before != nil && before.State == txn.Ongoing:
		return before.open
	}
	return time.Now()
}

// reopen dates a transaction that another leadership began. Of its age only the time of day is known: one that was begun in the future is new, one
// that is overdue is so at once.
func (t *transaction) reopen(today time.Time) {
	if t.State == txn.Ongoing {
		t.open = time.Now().Add(-max(today.Sub(time.UnixMilli(t.Start)), 0))
	}
}

func newTransaction(t txn.Transaction, rests slot.Pending) *transaction {
	known := &transaction{Transaction: t, rests: rests}
	if t.State.IsDecided() {
		known.complete = make(chan struct{})
	}
	return known
}
