package api

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// patience is how long the client of an admin request waits for its answer. What was begun in time is finished, also when it takes longer or when
// the client leaves: half a change would surprise more than a late one. What was not begun by then is not done at all.
type patience struct{ until time.Time }

// patienceOf begins with the arrival of the request, not with its turn.
func patienceOf(r *protocol.Request, timeoutMillis int32) patience {
	return patience{until: r.Received.Add(time.Duration(timeoutMillis) * time.Millisecond)}
}

// errTooLate answers what was not begun in time.
var errTooLate = refuse(kerr.RequestTimedOut, "the request's timeout has passed before its turn; nothing was changed")

// change carries out one change, unless the client no longer waits for it. The change's context ends when it has waited too long for others. A time of zero or
// less is over at once.
func (p patience) change(ctx context.Context, do func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !time.Now().Before(p.until) {
		return errTooLate
	}
	turn, end := context.WithDeadline(ctx, p.until)
	defer end()
	err := do(turn)
	if errors.Is(err, metastore.ErrNotBegun) && ctx.Err() == nil {
		return errTooLate
	}
	return err
}
