package txn_test

import (
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// A producer registers, writes to a partition and commits. Whoever drives the machine appends each Next before it answers.
func Example() {
	at := func(offset int64) txn.Moment { return txn.Moment{Now: time.UnixMilli(1700000000000), Next: offset} }

	t := txn.New()
	t = t.Register(txn.Registration{Timeout: time.Minute, Expected: txn.NoProducer()}, 4711, at(0)).Next
	t = t.Add(t.Producer, []txn.Partition{{Topic: "accounts"}}, nil, at(1)).Next
	t = t.End(t.Producer, true, at(2)).Next
	fmt.Println(t.State, t.Identity)
	fmt.Println(t.Add(t.Producer, []txn.Partition{{Topic: "accounts"}}, nil, at(3)).Refusal)
	fmt.Println(t.Complete(at(3)).Next.State)
	// Output:
	// PrepareCommit 2
	// the last transaction is not complete yet
	// CompleteCommit
}
