package coordinator

import (
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/group"
	"github.com/kaas-rs/kaas/kaas-coordinator/offset"
)

// sweep looks for expired offsets and abandoned groups.
func (c *Coordinator) sweep() {
	now := c.options.Clock.Now()
	for _, led := range c.all() {
		expired, err := led.sweep(now, c.options.Offsets.Retention)
		if err != nil && !isGone(err) {
			c.log.Warn().Err(err).Msg("expired offsets could not be removed")
		}
		if expired > 0 {
			c.log.Info().Int("offsets", expired).Msg("removed expired offsets")
		}
	}
}

// sweep removes what is over. Nobody waits for that to be durable: an offset that comes back by a crash expires again.
func (l *leadership) sweep(now time.Time, retention time.Duration) (int, error) {
	if l.enter() != nil {
		return 0, nil // whoever leads it now looks
	}
	defer l.Unlock()
	removed := 0
	for id, e := range l.groups {
		expired := e.offsets.Expired(now, retention, e.use())
		if len(expired) == 0 && !(e.offsets.IsEmpty() && e.isVacant()) {
			continue
		}
		if err := l.remove(id, e, expired); err != nil {
			return removed, err
		}
		removed += len(expired)
	}
	return removed, nil
}

// use says how the group uses its offsets, as expiry sees it (KIP-211, GroupMetadata.removeExpiredOffsets).
func (e *entry) use() offset.Use {
	m := e.live.Machine()
	_, known := m.Topics()
	switch {
	case m.State() == group.Empty && m.ProtocolType() == "":
		return offset.Use{}
	case m.State() == group.Empty:
		return offset.Use{EmptySince: e.live.Since()}
	case m.State() == group.Stable && m.IsConsumer() && known:
		return offset.Use{Subscribed: m.Subscribes}
	}
	return offset.Use{Keeps: true}
}
