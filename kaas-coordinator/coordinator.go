package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Coordinator serves the slots that this process leads.
type Coordinator struct {
	options Options
	log     zerolog.Logger
	seats   []atomic.Pointer[seat] // one for each slot of the cluster
	reaping trouble                // of reap
}

// seat is what is known of a slot. nil: it is not led here.
type seat struct {
	led     *leadership // nil while it is being replayed
	failure error       // why it could not be opened the last time
}

// New returns a coordinator that leads no slot before Run.
func New(o Options) *Coordinator {
	o = o.withDefaults()
	return &Coordinator{options: o, log: o.Logger, seats: make([]atomic.Pointer[seat], o.Slots)}
}

// Run serves until ctx ends, and returns when everything that it began has ended.
func (c *Coordinator) Run(ctx context.Context) error {
	var work sync.WaitGroup
	for i := range c.seats {
		work.Go(func() { c.keep(ctx, i) })
	}
	work.Go(func() { every(ctx, c.options.Offsets.CheckInterval, c.sweep) })
	work.Go(func() { every(ctx, c.options.Transactions.ReapInterval, c.reap) })
	work.Go(func() { every(ctx, c.options.Transactions.IDReapInterval, c.forget) })
	work.Wait()
	return context.Cause(ctx)
}

// every calls do until ctx ends; never when there is no interval.
func every(ctx context.Context, interval time.Duration, do func()) {
	if interval <= 0 {
		return
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// The pause after a slot could not be served.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// keep serves one slot again and again.
func (c *Coordinator) keep(ctx context.Context, number int) {
	pause := firstPause
	for ctx.Err() == nil {
		served, err := c.acquireAndServe(ctx, number)
		if ctx.Err() != nil {
			break
		}
		if served {
			pause = firstPause
			continue
		}
		c.seats[number].Store(&seat{failure: err})
		c.log.Error().Err(err).Int("slot", number).Dur("pause", pause).Msg("coordinator slot could not be opened")
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
	c.seats[number].Store(nil)
}

// acquireAndServe reports whether the slot was served at all.
func (c *Coordinator) acquireAndServe(ctx context.Context, number int) (bool, error) {
	p, err := c.options.Source.Acquire(ctx, number)
	if err != nil {
		return false, fmt.Errorf("acquire: %w", err)
	}
	if err := p.Err(); err != nil {
		return false, fmt.Errorf("acquired %s after its end: %w", p.Label(), err)
	}
	defer c.seats[number].Store(nil)
	c.seats[number].Store(&seat{})
	began := time.Now()
	led, err := c.load(ctx, p)
	if err != nil {
		return false, err
	}
	c.serve(number, led)
	c.log.Debug().Int("slot", number).Int32("epoch", int32(p.Epoch())).Int("groups", led.count()).Dur("took", time.Since(began)).Msg("coordinator slot is served")
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	// Whoever comes from now on is sent away; those who wait are told by close.
	c.seats[number].Store(nil)
	led.close()
	c.log.Debug().Int("slot", number).AnErr("reason", p.Err()).Msg("coordinator slot is no longer served")
	return true, nil
}

// serve lets requests in. Nobody decides a transaction before those that are decided are under way.
func (c *Coordinator) serve(number int, led *leadership) {
	led.Lock()
	defer led.Unlock()
	c.seats[number].Store(&seat{led: led})
	c.resume(led)
}

// Status says whether this process coordinates the group or transactional id: nil, ErrLoading or ErrNotCoordinator. It asks nobody.
func (c *Coordinator) Status(id string) error {
	_, err := c.find(normal(id))
	return err
}

// Served returns how many slots are served here, of Options.Slots: led, and replayed.
func (c *Coordinator) Served() int { return len(c.all()) }

// Problem is a slot that could not be opened; it is tried again.
type Problem struct {
	Slot int
	Err  error
}

// String is the problem as one line.
func (p Problem) String() string {
	return fmt.Sprintf("coordinator slot %d cannot be opened: %v", p.Slot, p.Err)
}

// Problems lists the slots that could not be opened when they were last tried, for a health page.
func (c *Coordinator) Problems() []Problem {
	var problems []Problem
	for i := range c.seats {
		if s := c.seats[i].Load(); s != nil && s.failure != nil {
			problems = append(problems, Problem{Slot: i, Err: s.failure})
		}
	}
	return problems
}

// isGone reports that an error says that the slot or partition was closed here, which nobody has to be told.
func isGone(err error) bool {
	return errors.Is(err, slot.ErrClosed) || errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrFenced)
}
