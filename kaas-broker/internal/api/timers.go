package api

import (
	"context"
	"sync"
	"time"
)

// timers keeps timers for the next wait.
type timers struct{ pool sync.Pool }

// wait waits for done, which may be nil when there is nothing to wait for. The error is context.DeadlineExceeded, or the cause of ctx.
func (t *timers) wait(ctx context.Context, done <-chan struct{}, deadline time.Time) error {
	if done == nil {
		return nil
	}
	timer, found := t.pool.Get().(*time.Timer)
	if !found {
		timer = time.NewTimer(time.Until(deadline))
	} else {
		timer.Reset(time.Until(deadline))
	}
	defer func() {
		timer.Stop()
		t.pool.Put(timer)
	}()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return context.DeadlineExceeded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
