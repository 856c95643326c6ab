package group

import (
	"math"
	"time"
)

// Config holds the broker's settings for groups. Start from DefaultConfig.
type Config struct {
	MinSessionTimeout     time.Duration // [group.min.session.timeout.ms]
	MaxSessionTimeout     time.Duration // [group.max.session.timeout.ms]
	MaxSize               int           // members of a group [group.max.size]
	InitialRebalanceDelay time.Duration // for more members to come when the first has joined [group.initial.rebalance.delay.ms]
	Room                  *Room         // for the members of all groups; nil: as much as they like
}

// DefaultConfig returns Kafka 3.7's defaults.
func DefaultConfig() Config {
	return Config{
		MinSessionTimeout:     6 * time.Second,
		MaxSessionTimeout:     30 * time.Minute,
		MaxSize:               math.MaxInt32,
		InitialRebalanceDelay: 3 * time.Second,
	}
}

// CheckSessionTimeout returns ErrSessionTimeout outside the bounds. Kafka asks this before it makes a group.
func (c Config) CheckSessionTimeout(timeout time.Duration) error {
	if timeout < c.MinSessionTimeout || timeout > c.MaxSessionTimeout {
		return ErrSessionTimeout
	}
	return nil
}

// newMemberTimeout is how long a new member may wait in its first join. It has no id yet and cannot send heartbeats, and clients that gave up
// must not fill the group for good.
const newMemberTimeout = 5 * time.Minute
