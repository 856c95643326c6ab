package clock

import (
	"sync"
	"time"
)

// Patience is how long the time of day must have stood ahead before it is believed. It is the time that a person, or a time server, has to set a wrong clock
// right before anything is removed for its sake.
const Patience = time.Hour

// tolerance is what a time server may step by; it is believed at once.
const tolerance = time.Minute

// Clock is the time of day for whoever removes what is old. The zero value is of no use: see New. It is safe for concurrent use.
type Clock struct {
	wall func() time.Time

	mu    sync.Mutex
	told  time.Time // the time of day that was last believed
	at    time.Time // when that was; durations from here are monotonic
	ahead time.Time // since when the time of day is ahead of what has passed since then; zero while it is not
}

// New begins with what the wall clock says now. wall is time.Now, or in a test what replaces it; only its time of day counts.
func New(wall func() time.Time) *Clock {
	return &Clock{wall: wall, told: wall().Round(0), at: time.Now()}
}

// Wall is what the wall clock says, for what is stamped with the time of day.
func (c *Clock) Wall() time.Time { return c.wall() }

// Now is the time of day, never later than it. Where the wall clock has leapt forward, it goes on from before the leap for as long as Patience from when
// Now first met it.
func (c *Clock) Now() time.Time {
	now, wall := time.Now(), c.wall().Round(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	expected := c.told.Add(now.Sub(c.at))
	leapt := wall.Sub(expected) > tolerance
	switch {
	case leapt && c.ahead.IsZero():
		c.ahead = now
		return expected
	case leapt && now.Sub(c.ahead) < Patience:
		return expected
	}
	c.told, c.at, c.ahead = wall, now, time.Time{}
	return wall
}
