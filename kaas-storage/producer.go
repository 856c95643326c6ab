package storage

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// producerWindow is how many batches of a producer are remembered: the most that an idempotent client has in flight.
const producerWindow = 5

// ProducerState is what a partition knows of one idempotent producer (Kafka's ProducerStateEntry).
type ProducerState struct {
	ID           int64
	Epoch        int16
	LastSequence int32 // -1 when no batch is remembered
	LastSeen     int64 // wall clock of its last append here, ms since 1970
	LastOffset   int64 // last offset it wrote, -1 when none

	CoordinatorEpoch int32 // of the last transaction marker, -1 when there was none
	TransactionStart int64 // first offset of its open transaction, -1 when none is open
	MarkerIdentity   int64 // largest identity of a transaction marker, -1 when there was none
}

// batchMark identifies one appended batch, so that a retry of it can be told from a new one.
type batchMark struct {
	FirstSequence int32 `json:"s"`
	LastSequence  int32 `json:"e"`
	BaseOffset    int64 `json:"b"`
	LastOffset    int64 `json:"o"`
	Timestamp     int64 `json:"t"`
}

// producer is also the form in which the manifest stores it.
type producer struct {
	ID       int64       `json:"id"`
	Epoch    int16       `json:"epoch"`
	LastSeen int64       `json:"seen"`
	Batches  []batchMark `json:"batches"` // oldest first, at most producerWindow

	Transaction *transactionState `json:"transaction,omitempty"` // nil for a producer that never took part in one
}

func (p *producer) last() (batchMark, bool) {
	if len(p.Batches) == 0 {
		return batchMark{}, false
	}
	return p.Batches[len(p.Batches)-1], true
}

// producerTable is the sequence state of a partition. Its owner serializes access.
type producerTable map[int64]*producer

func newProducerTable(stored []producer) producerTable {
	table := make(producerTable, len(stored))
	for i := range stored {
		p := stored[i]
		table[p.ID] = p.clone()
	}
	return table
}

func (p *producer) clone() *producer {
	c := *p
	c.Batches = slices.Clone(p.Batches)
	if p.Transaction != nil {
		state := *p.Transaction
		c.Transaction = &state
	}
	return &c
}

// snapshot copies the table in order of the ids.
func (t producerTable) snapshot() []producer {
	stored := make([]producer, 0, len(t))
	for _, p := range t {
		stored = append(stored, *p.clone())
	}
	slices.SortFunc(stored, func(a, b producer) int { return cmp.Compare(a.ID, b.ID) })
	return stored
}

// expire forgets producers that have been silent for longer than age milliseconds, unless they have a transaction open.
// As in Kafka, how long the records live has no part in it. It returns the last transaction marker of the forgotten, -1 when they had none.
func (t producerTable) expire(now, age int64) (marker int64) {
	marker = -1
	maps.DeleteFunc(t, func(_ int64, p *producer) bool {
		state := p.transaction()
		if now-p.LastSeen < age || state.Start >= 0 {
			return false
		}
		marker = max(marker, state.Marker)
		return true
	})
	return marker
}

// classify decides whether an idempotent batch is new (nil, nil), a retry of a remembered batch, or out of order.
// It follows Kafka's ProducerAppendInfo: a producer without state may begin with any sequence, a raised epoch begins at 0.
func (t producerTable) classify(b batch.Batch) (*batchMark, error) {
	p, known := t[b.ProducerID()]
	if b.ProducerID() < 0 || !known {
		return nil, nil
	}
	first, last := b.BaseSequence(), b.LastSequence()
	switch {
	case b.ProducerEpoch() < p.Epoch:
		return nil, ErrProducerEpoch
	case b.Control():
		return nil, nil // has no sequence
	case b.ProducerEpoch() > p.Epoch:
		if first != 0 {
			return nil, ErrOutOfOrderSequence
		}
		return nil, nil
	}
	for i := range p.Batches {
		if m := &p.Batches[i]; m.FirstSequence == first && m.LastSequence == last {
			return m, nil
		}
	}
	next := int32(0) // only a marker is known of this epoch
	if newest, known := p.last(); known {
		next = nextSequence(newest.LastSequence)
	}
	if first != next {
		return nil, ErrOutOfOrderSequence
	}
	return nil, nil
}

// nextSequence counts on from s; after the largest int32 comes 0.
func nextSequence(s int32) int32 {
	if s == math.MaxInt32 {
		return 0
	}
	return s + 1
}

// at returns the state of a batch's producer, made when there is none. Another epoch begins without batches; a transaction that is open stays.
func (t producerTable) at(b batch.Batch) *producer {
	p := t[b.ProducerID()]
	if p == nil {
		p = &producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), Batches: make([]batchMark, 0, 1)}
		t[p.ID] = p
	}
	if p.Epoch != b.ProducerEpoch() {
		p.Epoch, p.Batches = b.ProducerEpoch(), p.Batches[:0]
	}
	return p
}

// record notes an accepted batch whose offsets are assigned, and reports whether it begins a transaction. seen is the wall clock in ms.
func (t producerTable) record(b batch.Batch, seen int64) (begins bool) {
	if b.ProducerID() < 0 || b.Control() {
		return false
	}
	p := t.at(b)
	if len(p.Batches) == producerWindow {
		copy(p.Batches, p.Batches[1:])
		p.Batches = p.Batches[:producerWindow-1]
	}
	if len(p.Batches) > 0 {
		p.Batches = slices.Grow(p.Batches, producerWindow-len(p.Batches)) // most of very many producers send one batch
	}
	p.LastSeen = seen
	p.Batches = append(p.Batches, batchMark{
		FirstSequence: b.BaseSequence(),
		LastSequence:  b.LastSequence(),
		BaseOffset:    b.BaseOffset(),
		LastOffset:    b.LastOffset(),
		Timestamp:     b.MaxTimestamp(),
	})
	if !b.Transactional() || p.transaction().Start >= 0 {
		return false
	}
	state := p.transaction()
	state.Start = b.BaseOffset()
	p.Transaction = &state
	return true
}

// states lists the table for administrators, in order of the ids.
func (t producerTable) states() []ProducerState {
	states := make([]ProducerState, 0, len(t))
	for _, p := range t {
		states = append(states, p.state())
	}
	slices.SortFunc(states, func(a, b ProducerState) int { return cmp.Compare(a.ID, b.ID) })
	return states
}

func (p *producer) state() ProducerState {
	s := ProducerState{ID: p.ID, Epoch: p.Epoch, LastSequence: -1, LastSeen: p.LastSeen, LastOffset: -1}
	if m, known := p.last(); known {
		s.LastSequence, s.LastOffset = m.LastSequence, m.LastOffset
	}
	transaction := p.transaction()
	s.CoordinatorEpoch, s.TransactionStart, s.MarkerIdentity = transaction.CoordinatorEpoch, transaction.Start, transaction.Identity
	return s
}
