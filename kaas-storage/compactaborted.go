package storage

import (
	"sort"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// abortedFilter carries the entries of aborted transactions over from the inputs of a compaction to its outputs. An entry stays while a record of its
// transaction was in the inputs, though the outputs do not have it any more: somebody may be reading the inputs, and asks only then what was aborted. The next
// compaction drops it, when nobody reads these files any more.
type abortedFilter struct {
	entries []*abortedEntry           // ascending by marker
	of      map[int64][]*abortedEntry // by producer, ascending
	next    int
	all     bool // stay
}

type abortedEntry struct {
	AbortedTransaction
	seen bool
}

func newAbortedFilter(inputs []*segment, all bool) (*abortedFilter, error) {
	f := &abortedFilter{of: make(map[int64][]*abortedEntry), all: all}
	for _, s := range inputs {
		err := s.visitAborted(s.base, func(a AbortedTransaction) bool {
			entry := &abortedEntry{AbortedTransaction: a}
			f.entries = append(f.entries, entry)
			f.of[a.ProducerID] = append(f.of[a.ProducerID], entry)
			return true
		})
		s.transactions.closeUnused()
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// see notes a batch of the inputs.
func (f *abortedFilter) see(b batch.Batch) {
	if !b.Transactional() || b.Control() || b.Count() == 0 {
		return
	}
	of := f.of[b.ProducerID()]
	i := sort.Search(len(of), func(i int) bool { return of[i].LastOffset >= b.BaseOffset() })
	if i < len(of) && of[i].FirstOffset <= b.LastOffset() {
		of[i].seen = true
	}
}

// stays reports whether the batch is the marker of an entry that stays. It must not go before: a client that is told of an aborted transaction leaves
// out its producer's records, those of later transactions too, until it meets the marker.
func (f *abortedFilter) stays(b batch.Batch) bool {
	if !b.Control() {
		return false
	}
	i := sort.Search(len(f.entries), func(i int) bool { return f.entries[i].LastOffset >= b.LastOffset() })
	return i < len(f.entries) && f.entries[i].LastOffset == b.LastOffset() && (f.all || f.entries[i].seen)
}

// upTo returns the entries that stay of those whose markers are below end, each once.
func (f *abortedFilter) upTo(end int64) []AbortedTransaction {
	var kept []AbortedTransaction
	for ; f.next < len(f.entries) && f.entries[f.next].LastOffset < end; f.next++ {
		if entry := f.entries[f.next]; f.all || entry.seen {
			kept = append(kept, entry.AbortedTransaction)
		}
	}
	return kept
}
