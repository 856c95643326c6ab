package coordinator

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-coordinator/txn"
)

// reap aborts transactions that are open for longer than their producers wanted.
func (c *Coordinator) reap() {
	now := time.Now()
	var failure error
	slots := 0
	for _, led := range c.all() {
		if err := c.reapIn(led, now); err != nil && !isGone(err) {
			failure = err
			slots++
		}
	}
	c.reaping.tell(c.log, failure, slots)
}

// trouble is what keeps coming back, such as a full disk. The log tells once that it begins and once that it ends. Only one goroutine may use it.
type trouble struct{ told bool }

func (t *trouble) tell(log zerolog.Logger, failure error, slots int) {
	switch {
	case failure != nil && !t.told:
		log.Warn().Err(failure).Int("slots", slots).Msg("transactions that timed out cannot be aborted")
	case failure == nil && t.told:
		log.Info().Msg("no transaction that timed out is kept open any more")
	}
	t.told = failure != nil
}

// reapIn waits for nothing: what is lost by a crash times out again.
func (c *Coordinator) reapIn(led *leadership, now time.Time) error {
	if led.enter() != nil {
		return nil // whoever leads it now looks
	}
	defer led.Unlock()
	for id, t := range led.transactions {
		if !t.hasTimedOut(now) {
			continue
		}
		step := t.Fence(txn.Moment{Now: c.options.Clock.Wall(), Next: led.slot.Next()})
		if _, err := c.storeTransaction(led, id, step.Next); err != nil {
			return err
		}
		c.log.Info().Str("transactional_id", id).Int64("producer_id", t.Producer.ID).Dur("timeout", t.Timeout).Msg("transaction timed out")
	}
	return nil
}

// forget removes transactional ids and markers that nobody has used for long.
func (c *Coordinator) forget() {
	now := c.options.Clock.Now()
	for _, led := range c.all() {
		forgotten, err := led.forget(now, c.options.Transactions)
		if err != nil && !isGone(err) {
			c.log.Warn().Err(err).Msg("expired transactional ids could not be removed")
		}
		if forgotten > 0 {
			c.log.Info().Int("ids", forgotten).Msg("removed expired transactional ids and markers")
		}
	}
}

// forget waits for nothing: what comes back by a crash expires again.
func (l *leadership) forget(now time.Time, o TransactionOptions) (int, error) {
	if l.enter() != nil {
		return 0, nil // whoever leads it now looks
	}
	defer l.Unlock()
	var expired []slot.Record
	for id, t := range l.transactions {
		if t.IsExpired(now, o.IDExpiry) {
			expired = append(expired, slot.Record{Key: slot.TransactionKey(id)})
		}
	}
	staging := l.stagingProducers()
	for producer, mark := range l.marks {
		if !staging[producer] && mark.IsExpired(now, o.ProducerExpiry) {
			expired = append(expired, slot.Record{Key: slot.MarkerKey(producer)})
		}
	}
	forgotten := 0
	for piece := range slot.Pieces(expired) {
		if _, err := l.slot.Append(piece...); err != nil {
			return forgotten, appendError(err)
		}
		for _, r := range piece {
			if r.Key.Kind == slot.KindMarker {
				delete(l.marks, r.Key.ProducerID)
			} else {
				delete(l.transactions, r.Key.ID)
			}
		}
		forgotten += len(piece)
	}
	return forgotten, nil
}

// stagingProducers are those with staged offsets in any group: the marker that ends them is still to come.
func (l *leadership) stagingProducers() map[int64]bool {
	producers := make(map[int64]bool)
	for _, e := range l.groups {
		for _, producer := range e.offsets.Producers() {
			producers[producer] = true
		}
	}
	return producers
}
