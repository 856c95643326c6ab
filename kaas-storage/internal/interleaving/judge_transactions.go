package interleaving

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
)

func (j *judge) acknowledgedTransactor(l *leadership, offset int64, value string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.destroying.Load() {
		return
	}
	if other, ok := j.acked[offset]; ok && other != value {
		j.violatedf("offset %d is acknowledged for %s and, by %s, for %s", offset, other, l.owner.name, value)
	}
	j.acked[offset] = value
}

// refusedTransactor: the newest leader knows all that was acknowledged, so what comes next fits.
func (j *judge) refusedTransactor(l *leadership, t *transactor, err error) {
	if !errors.Is(err, storage.ErrOutOfOrderSequence) && !errors.Is(err, storage.ErrProducerEpoch) && !errors.Is(err, storage.ErrInvalidTransaction) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if l == j.leaderships[len(j.leaderships)-1] && l.partition.Err() == nil {
		j.violatedf("%s, the newest leader, refuses transactor %d: %w", l.owner.name, t.id, err)
	}
}

// tookForNew: the newest leader knows every marker that was acknowledged, and voids what was verified before it.
func (j *judge) tookForNew(l *leadership, what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if l == j.leaderships[len(j.leaderships)-1] && l.partition.Err() == nil {
		j.violatedf("%s, the newest leader, takes %s for new", l.owner.name, what)
	}
}

// compareDecisions looks at what has become visible to readers of committed records: each transaction is as it was decided.
func (j *judge) compareDecisions(l *leadership, bounds storage.Offsets) error {
	l.owner.judging.Store(true)
	defer l.owner.judging.Store(false)
	from := max(l.decided, bounds.LogStart)
	if from >= bounds.LastStable {
		return nil
	}
	aborted, err := l.partition.AbortedIn(from, bounds.LastStable)
	if err != nil {
		return fmt.Errorf("aborted transactions in [%d, %d): %w", from, bounds.LastStable, err)
	}
	for offset := from; offset < bounds.LastStable; offset++ {
		if err := j.compareDecision(offset, aborted); err != nil {
			j.violatedf("%s: %w", l.owner.name, err)
		}
	}
	l.decided = bounds.LastStable
	return nil
}

func (j *judge) compareDecision(offset int64, aborted []storage.AbortedTransaction) error {
	var id, number, sequence int64
	r, known := j.seen[offset]
	if n, err := fmt.Sscanf(r.value, "%d %d %d", &id, &number, &sequence); !known || n != 3 || err != nil || id != r.producer {
		return nil
	}
	t := j.world.transactors[id-firstTransactor]
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, gone := j.gone[offset]; gone {
		return nil
	}
	if number >= int64(len(t.commits)) {
		return fmt.Errorf("offset %d of transaction %d of %d is visible, which nobody has decided", offset, number, id)
	}
	listed := slices.ContainsFunc(aborted, func(a storage.AbortedTransaction) bool {
		return a.ProducerID == id && a.FirstOffset <= offset && a.LastOffset > offset
	})
	if listed == t.commits[number] {
		return fmt.Errorf("offset %d of transaction %d of %d: commit %t, aborted for readers %t", offset, number, id, t.commits[number], listed)
	}
	return nil
}

// examineTransactions looks at the last leader's state, with everybody at rest. The caller holds mu.
func (j *judge) examineTransactions(l *leadership) error {
	check := storagetest.CheckTransactions
	if j.gaps() {
		check = storagetest.CheckCompactedTransactions
	}
	if err := check(l.partition); err != nil {
		return fmt.Errorf("transactions at the end: %w", err)
	}
	bounds := l.partition.Offsets()
	for offset := bounds.LogStart; offset < bounds.LastStable; offset++ {
		aborted, err := l.partition.AbortedIn(offset, offset+1)
		if err != nil {
			return err
		}
		if err := j.compareDecision(offset, aborted); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
	}
	return nil
}

// transactionsEnd lets every transactor come to the end of its transaction at the last leader: nothing hangs.
func (w *world) transactionsEnd(final *Owner) error {
	for number, t := range w.transactors {
		for range 6 {
			t.mu.Lock()
			idle := t.sent == 0 && !t.outstanding && !t.decided
			t.mu.Unlock()
			if idle {
				break
			}
			if err := w.do(final, Transact(number)); err != nil {
				return err
			}
		}
		if err := w.do(final, Repeat(number)); err != nil {
			return err
		}
	}
	if o := final.lead.partition.Offsets(); o.LastStable != o.HighWatermark {
		return fmt.Errorf("every transaction has ended, offsets are %+v", o)
	}
	return nil
}
