package storagetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// CheckTransactions compares what a partition says of its transactions with what its log says: the last stable offset, the aborted
// transactions of every range, what a reader of committed records is given, and the producers. The partition must be at rest.
func CheckTransactions(p *storage.Partition) error {
	bounds := p.Offsets()
	seen := transactionLog{start: bounds.LogStart, first: map[int64]int64{}, stable: bounds.HighWatermark}
	end, err := seen.read(p, bounds.LogStart, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
	if err != nil {
		return err
	}
	if end != bounds.HighWatermark {
		return fmt.Errorf("the log ends at %d, the watermark is %d", end, bounds.HighWatermark)
	}
	for _, first := range seen.first {
		seen.stable = min(seen.stable, max(first, bounds.LogStart))
	}
	hidden := bounds.LogStart > 0 && bounds.LastStable == bounds.LogStart // a transaction whose records are all below the log start may be open
	if bounds.LastStable != seen.stable && !hidden {
		return fmt.Errorf("last stable offset %d, the log says %d: %+v", bounds.LastStable, seen.stable, seen.first)
	}
	if err := seen.checkProducers(p); err != nil {
		return err
	}
	if err := seen.checkCommitted(p, bounds); err != nil {
		return err
	}
	return seen.checkAborted(p, bounds)
}

// transactionLog is what the batches of a log say, in order.
type transactionLog struct {
	start   int64
	stable  int64
	first   map[int64]int64 // of the open transactions, by producer
	aborted []storage.AbortedTransaction
}

// read goes on until nothing more is given and returns the offset behind the last batch.
func (l *transactionLog) read(p *storage.Partition, next int64, o storage.ReadOptions) (int64, error) {
	for {
		section, err := p.Read(next, o)
		if err != nil || section == nil {
			return next, err
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return next, err
		}
		before := next
		for len(data) > 0 {
			b, rest, err := batch.Next(data)
			if errors.Is(err, batch.ErrTruncated) && next > before {
				break
			}
			if err != nil {
				return next, fmt.Errorf("behind offset %d: %w", next, err)
			}
			l.note(b)
			next, data = b.LastOffset()+1, rest
		}
	}
}

func (l *transactionLog) note(b batch.Batch) {
	id := b.ProducerID()
	first, open := l.first[id]
	switch {
	case id < 0:
	case !b.Control():
		if b.Transactional() && !open {
			l.first[id] = b.BaseOffset()
		}
	default:
		m, ends, err := b.Marker(nil)
		if err != nil || !ends {
			return
		}
		delete(l.first, id)
		if open && !m.Commit {
			stable := b.LastOffset() + 1
			for _, other := range l.first {
				stable = min(stable, other)
			}
			l.aborted = append(l.aborted, storage.AbortedTransaction{ProducerID: id, FirstOffset: first, LastOffset: b.LastOffset(), LastStable: stable})
		}
	}
}

// checkProducers holds what each producer is said to have open against the log. What is queued behind the watermark the log does not tell.
func (l *transactionLog) checkProducers(p *storage.Partition) error {
	if o := p.Offsets(); o.LogEnd != o.HighWatermark {
		return nil
	}
	starts := map[int64]int64{}
	for _, s := range p.Producers() {
		if s.TransactionStart >= l.start {
			starts[s.ID] = s.TransactionStart
		}
	}
	for id, first := range l.first {
		if first < l.start || starts[id] == 0 && l.start > 0 {
			delete(starts, id) // it may have begun below the log start
			continue
		}
		if start, known := starts[id]; !known || start != first {
			return fmt.Errorf("producer %d has a transaction open from offset %d on, the partition says %d, %t", id, first, start, known)
		}
		delete(starts, id)
	}
	if len(starts) > 0 {
		return fmt.Errorf("transactions that the log does not have: %v", starts)
	}
	return nil
}

// checkCommitted reads committed records with several limits: they end at the last stable offset.
func (l *transactionLog) checkCommitted(p *storage.Partition, bounds storage.Offsets) error {
	for _, limit := range []int{1, 150, 1 << 20} {
		var ignored transactionLog
		ignored.first = map[int64]int64{}
		end, err := ignored.read(p, bounds.LogStart, storage.ReadOptions{MaxBytes: limit, AtLeastOneBatch: true, Committed: true})
		if err != nil {
			return err
		}
		if end != bounds.LastStable {
			return fmt.Errorf("committed records end at %d, the last stable offset is %d", end, bounds.LastStable)
		}
	}
	return nil
}

// checkAborted asks for every range of decided offsets.
func (l *transactionLog) checkAborted(p *storage.Partition, bounds storage.Offsets) error {
	from := max(bounds.LogStart, bounds.LastStable-200)
	for ; from <= bounds.LastStable; from++ {
		for to := from; to <= bounds.LastStable; to++ {
			if err := l.checkRange(p, from, to); err != nil {
				return fmt.Errorf("aborted transactions in [%d, %d): %w", from, to, err)
			}
		}
	}
	return nil
}

func (l *transactionLog) checkRange(p *storage.Partition, from, to int64) error {
	got, err := p.AbortedIn(from, to)
	if err != nil {
		return err
	}
	var want []storage.AbortedTransaction
	for _, a := range l.aborted {
		if from < to && a.LastOffset >= from && a.FirstOffset < to {
			want = append(want, a)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b storage.AbortedTransaction) int { return cmp.Compare(a.LastOffset, b.LastOffset) }) {
		return fmt.Errorf("out of order: %+v", got)
	}
	markers := map[int64]storage.AbortedTransaction{}
	for _, a := range got {
		markers[a.LastOffset] = a
	}
	for _, a := range want {
		found, ok := markers[a.LastOffset]
		delete(markers, a.LastOffset)
		if l.start > 0 && found.FirstOffset < l.start {
			found.FirstOffset, found.LastStable = a.FirstOffset, a.LastStable
		}
		if l.start > 0 && found.LastStable <= l.start {
			found.LastStable = a.LastStable
		}
		if !ok || found != a {
			return fmt.Errorf("%+v is said to be %+v: %+v", a, found, got)
		}
	}
	for _, a := range slices.Sorted(maps.Keys(markers)) {
		if markers[a].FirstOffset >= l.start {
			return fmt.Errorf("%+v is not in the log", markers[a])
		}
	}
	return nil
}
