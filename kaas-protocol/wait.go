package protocol

import (
	"context"
	"time"
)

// lookInterval is how often a reader that does not read looks whether its client is still there.
const lookInterval = time.Second

// wait blocks the reader until ready says so. With untilDrain it ends with errDraining when the server drains:
// a request that has not been read is not in flight. It also ends when the client has gone.
func (c *connection) wait(ctx context.Context, ready func(now time.Time) readiness, untilDrain bool) error {
	now := time.Now()
	state := ready(now)
	if state.ready {
		return nil
	}
	var draining <-chan struct{}
	if untilDrain {
		draining = c.server.draining
	}
	timer := time.NewTimer(pause(state, now))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-draining:
			return errDraining
		case <-c.closing:
			return errSaidClose
		case <-c.pipeline.changed:
		case <-timer.C:
			if c.peerGone() {
				return errClientGone
			}
		}
		now = time.Now()
		if state = ready(now); state.ready {
			return nil
		}
		timer.Reset(pause(state, now))
	}
}

// pause is how long to wait before looking again.
func pause(state readiness, now time.Time) time.Duration {
	if state.again.IsZero() {
		return lookInterval
	}
	return min(state.again.Sub(now), lookInterval)
}

// watch waits for done. It returns an error when the connection ends, the client goes, or draining (which may
// be nil) is closed first.
func (c *connection) watch(ctx context.Context, done, draining <-chan struct{}) error {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-draining:
			return errDraining
		case <-ticker.C:
			if c.peerGone() {
				return errClientGone
			}
		}
	}
}

// peerGone looks at the socket without reading. A client that has only closed its sending side counts as gone
// when a request of it is outstanding, which would otherwise be waited for in vain; without one, what it sent
// before is still read in order.
func (c *connection) peerGone() bool {
	reset, finished := c.socket.peerState()
	return reset || (finished && c.pipeline.outstanding() > 0)
}

// stopped returns why no further request is read: the server drains, or a handler has closed the connection.
func (c *connection) stopped() error {
	select {
	case <-c.closing:
		return errSaidClose
	case <-c.server.draining:
		return errDraining
	default:
		return nil
	}
}
