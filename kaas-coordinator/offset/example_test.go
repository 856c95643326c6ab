package offset_test

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
)

// A transaction's offset counts once the transaction has committed. The records are what makes that durable.
func Example() {
	offsets := offset.New()
	orders := offset.Partition{Topic: "orders", Partition: 0}
	offsets.Stage(4711, orders, offset.Committed{Offset: 10, LeaderEpoch: -1, ExpireTime: offset.Never})
	fmt.Println(offsets.IsUnstable(orders))

	records := offsets.Completion("billing", 4711, orders, true)
	offsets.Complete(4711, []offset.Partition{orders}, true)
	committed, _ := offsets.Get(orders, uuid.Nil)
	fmt.Println(len(records), committed.Offset, offsets.IsUnstable(orders))
	// Output:
	// true
	// 2 10 false
}
