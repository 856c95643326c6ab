package compaction

import (
	"cmp"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// transactions follows the transactions as the batches of the log pass in order (Kafka's CleanedTransactionMetadata).
type transactions struct {
	coming  []Aborted          // ascending by first offset
	aborted map[int64]*aborted // those that have begun, by producer
	// committed are the producers with a batch since their last marker that belongs to no aborted transaction.
	committed map[int64]struct{}
}

type aborted struct {
	entry Aborted
	seen  bool // a batch of it has passed
}

// sortAborted returns the entries in the order in which their transactions begin.
func sortAborted(entries []Aborted) []Aborted {
	sorted := slices.Clone(entries)
	slices.SortFunc(sorted, func(a, b Aborted) int {
		return cmp.Or(cmp.Compare(a.FirstOffset, b.FirstOffset), cmp.Compare(a.ProducerID, b.ProducerID), cmp.Compare(a.LastOffset, b.LastOffset))
	})
	return sorted
}

func newTransactions(sorted []Aborted) transactions {
	return transactions{coming: sorted, aborted: make(map[int64]*aborted), committed: make(map[int64]struct{})}
}

// begin takes the transactions that begin at the offset or below. One whose marker did not show itself ends here at last. An entry that is there twice comes twice
// in a row and changes nothing.
func (t *transactions) begin(offset int64) {
	for len(t.coming) > 0 && t.coming[0].FirstOffset <= offset {
		entry := t.coming[0]
		t.coming = t.coming[1:]
		if open, known := t.aborted[entry.ProducerID]; !known || open.entry.LastOffset < entry.FirstOffset {
			t.aborted[entry.ProducerID] = &aborted{entry: entry}
		}
	}
}

// data notes a batch that is no control batch, and says whether it belongs to an aborted transaction.
func (t *transactions) data(b batch.Batch) bool {
	t.begin(b.LastOffset())
	if !b.Transactional() {
		return false
	}
	if open, known := t.aborted[b.ProducerID()]; known {
		if b.LastOffset() <= open.entry.LastOffset {
			open.seen = true
			return true
		}
		delete(t.aborted, b.ProducerID())
	}
	t.committed[b.ProducerID()] = struct{}{}
	return false
}

// ending is what a control batch has behind it.
type ending struct {
	// spent: it is a marker and no batch of its transaction is left, or it is empty already.
	spent bool
	// aborted is the entry of the transaction that it ends, nil for none; seen says that a batch of it has passed.
	aborted *Aborted
	seen    bool
}

// control notes a control batch. With an error it cannot be read; the entry of an aborted transaction says all the same that it ends there.
func (t *transactions) control(b batch.Batch, wires *batch.Tripwires) (ending, error) {
	t.begin(b.LastOffset())
	if b.Count() == 0 {
		return ending{spent: true}, nil
	}
	_, ends, err := b.Marker(wires)
	if open, known := t.aborted[b.ProducerID()]; known && open.entry.LastOffset == b.LastOffset() {
		delete(t.aborted, b.ProducerID())
		return ending{spent: err == nil && !open.seen, aborted: &open.entry, seen: open.seen}, err
	}
	if err != nil || !ends {
		return ending{}, err
	}
	_, seen := t.committed[b.ProducerID()]
	delete(t.committed, b.ProducerID())
	return ending{spent: !seen, seen: seen}, nil
}
