package storage

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// transactionState is what a partition knows of the transactions of one producer. -1 stands for none.
type transactionState struct {
	Start            int64 `json:"start"`       // first offset of the open transaction
	CoordinatorEpoch int32 `json:"coordinator"` // of the last marker
	Identity         int64 `json:"identity"`    // largest of a marker
	Marker           int64 `json:"marker"`      // offset of the last marker
}

var noTransaction = transactionState{Start: -1, CoordinatorEpoch: -1, Identity: -1, Marker: -1}

// transaction returns the state, that of a producer without transactions too.
func (p *producer) transaction() transactionState {
	if p.Transaction == nil {
		return noTransaction
	}
	return *p.Transaction
}

// openTransaction is one that no marker has ended.
type openTransaction struct {
	producerID int64
	first      int64
}

// decidedTransaction has a marker that may not be below the watermark yet.
type decidedTransaction struct {
	first  int64
	marker int64
}

// transactions is what keeps the last stable offset of a partition behind its watermark (Kafka's ongoingTxns and unreplicatedTxns).
// Its owner serializes access, but for firstUnstable.
type transactions struct {
	ongoing  []openTransaction    // ascending by first offset
	decided  []decidedTransaction // ascending by marker
	unstable ordered
	// forgotten is the offset of the last marker of a producer whose state has expired, -1 for none: a verification that began before it is void.
	forgotten int64
}

// newTransactions begins with what a recovery point knows: there the marker of each decided transaction was below the watermark.
func newTransactions(producers producerTable) *transactions {
	t := &transactions{forgotten: -1}
	for _, p := range producers {
		if first := p.transaction().Start; first >= 0 {
			t.ongoing = append(t.ongoing, openTransaction{p.ID, first})
		}
	}
	slices.SortFunc(t.ongoing, func(a, b openTransaction) int { return cmp.Compare(a.first, b.first) })
	t.settle()
	return t
}

// note brings producers and transactions up to date with a batch that has its offsets. marker is the content of a control batch that ends
// a transaction. The result is true when it aborts one that was open here.
func (t *transactions) note(producers producerTable, b batch.Batch, marker *batch.Marker, seen int64) (AbortedTransaction, bool) {
	if marker != nil {
		first := producers.end(b, *marker, seen)
		if first < 0 {
			return AbortedTransaction{}, false
		}
		stable := t.decide(first, b.LastOffset())
		return AbortedTransaction{ProducerID: b.ProducerID(), FirstOffset: first, LastOffset: b.LastOffset(), LastStable: stable}, !marker.Commit
	}
	if producers.record(b, seen) {
		t.begin(b.ProducerID(), b.BaseOffset())
	}
	return AbortedTransaction{}, false
}

func (t *transactions) begin(producerID, first int64) {
	t.ongoing = append(t.ongoing, openTransaction{producerID, first})
	if t.unstable.Load() == math.MaxInt64 {
		t.unstable.Store(first)
	}
}

// decide ends the transaction that began at first and returns the last stable offset as it will be behind the marker: where the earliest
// transaction of another producer begins, or behind the marker.
func (t *transactions) decide(first, marker int64) int64 {
	i := sort.Search(len(t.ongoing), func(i int) bool { return t.ongoing[i].first >= first })
	if i < len(t.ongoing) && t.ongoing[i].first == first {
		t.ongoing = slices.Delete(t.ongoing, i, i+1)
	}
	t.decided = append(t.decided, decidedTransaction{first, marker})
	if len(t.ongoing) > 0 {
		return t.ongoing[0].first
	}
	return marker + 1
}

// advance forgets the transactions whose marker is below the watermark.
func (t *transactions) advance(watermark int64) {
	n := 0
	for n < len(t.decided) && t.decided[n].marker < watermark {
		n++
	}
	if n > 0 {
		t.decided = slices.Delete(t.decided, 0, n)
		t.settle()
	}
}

func (t *transactions) settle() {
	first := int64(math.MaxInt64)
	if len(t.ongoing) > 0 {
		first = t.ongoing[0].first
	}
	for _, d := range t.decided {
		first = min(first, d.first)
	}
	t.unstable.Store(first)
}

// firstUnstable is the first offset of the earliest transaction that is open, or whose marker is not below the watermark yet; math.MaxInt64
// without one. A reader takes it after the watermark: in the other order a transaction could begin, and the watermark pass it, in between.
func (t *transactions) firstUnstable() int64 { return t.unstable.Load() }

// forget notes the last marker of producers that expired.
func (t *transactions) forget(marker int64) { t.forgotten = max(t.forgotten, marker) }
