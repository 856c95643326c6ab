package api

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// patience is how long the client of an admin request waits for its answer. What was begun in time is finished, also when it takes longer or when
// the client leaves: half a change would surprise more than a late one. What was not begun by then is not done at all.
type patience struct{ until time.Time }

// patienceOf begins with the arrival of the request, not with its turn.
func patienceOf(r *protocol.Request, timeoutMillis int32) patience {
	return patience{until: r.Received.Add(time.Duration(timeoutMillis) * time.Millisecond)}
}

// begin returns the context of one change, or the error for a client that no longer waits for it. A time of zero or less is over at once.
func (p patience) begin(ctx context.Context) (context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !time.Now().Before(p.until) {
		return nil, kerr.RequestTimedOut
	}
	return context.WithoutCancel(ctx), nil
}

// awaitServed returns when the topic's partitions from first on are served or have failed once, so that the first produce after the answer finds a
// leader. The change is made whether they are or not.
func (p patience) awaitServed(ctx context.Context, partitions Partitions, topic *catalog.Topic, first int32) {
	ctx, cancel := context.WithDeadline(ctx, p.until)
	defer cancel()
	for index := first; index < topic.Partitions && ctx.Err() == nil; index++ {
		// What became of it is the business of whoever uses the partition.
		_, _ = partitions.Await(ctx, topic, index)
	}
}
