package coordinator_test

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-coordinator"
	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// noSlots is a source that leads nothing.
type noSlots struct{}

func (noSlots) Acquire(ctx context.Context, _ int) (*storage.Partition, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A coordinator that leads no slot sends everybody to another.
func Example() {
	c := coordinator.New(coordinator.Options{Source: noSlots{}})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()

	_, err := c.Commit(ctx, "billing", coordinator.CommitRequest{
		Identity: group.Identity{Generation: -1}, Retention: -1,
		Offsets: []coordinator.CommitOffset{{
			Partition: offset.Partition{Topic: "orders"}, Offset: 42, LeaderEpoch: -1, CommitTime: -1,
		}},
	})
	fmt.Println(err)
	stop()
	fmt.Println(<-done)
	// Output:
	// not the coordinator
	// context canceled
}
