package storage_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kaas-rs/kaas/kaas-storage"
)

// transact goes on with transactions, whoever began them: it ends the oldest one that is acknowledged, or sends the marker again of one whose
// end was asked for and not acknowledged, or begins one.
func (c *contest) transact(p *storage.Partition) error {
	c.mu.Lock()
	c.turn++
	turn := c.turn
	c.mu.Unlock()
	id, found := c.pick(turn)
	var err error
	if found { // a marker that is sent again has the same identity and the same decision, to whoever it is sent
		err = c.ledger.end(p, id, id, id%2 == 0)
	} else {
		err = c.ledger.begin(p, turn)
	}
	if errors.Is(err, errContradiction) {
		c.violate(err)
	}
	return err
}

func (c *contest) pick(turn int64) (int64, bool) {
	l := c.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if ids := slices.Sorted(maps.Keys(l.transactions.unanswered)); len(ids) > 0 && turn%3 > 0 {
		return ids[0], true
	}
	if ids := slices.Sorted(maps.Keys(l.transactions.open)); len(ids) > 0 && turn%3 > 0 {
		return ids[0], true
	}
	return 0, false
}

// compareDecisions: nobody may take for committed what another was told is aborted. The caller holds mu.
func (c *contest) compareDecisions(start int64, found []promise, aborted []storage.AbortedTransaction) {
	for i, r := range found {
		text, is := strings.CutPrefix(r.value, "transaction of ")
		if !is {
			continue
		}
		offset := start + int64(i)
		isAborted := slices.ContainsFunc(aborted, func(a storage.AbortedTransaction) bool {
			return fmt.Sprint(a.ProducerID) == text && a.FirstOffset <= offset && offset < a.LastOffset
		})
		if before, known := c.decided[offset]; known && before != isAborted {
			c.violations = append(c.violations, fmt.Errorf("offset %d was said to be aborted: %t, now: %t", offset, before, isAborted))
		}
		c.decided[offset] = isAborted
	}
}
