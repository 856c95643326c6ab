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
		p.Batches = slices.Clone(p.Batches)
		table[p.ID] = &p
	}
	return table
}

// snapshot copies the table in order of the ids.
func (t producerTable) snapshot() []producer {
	stored := make([]producer, 0, len(t))
	for _, p := range t {
		c := *p
		c.Batches = slices.Clone(p.Batches)
		stored = append(stored, c)
	}
	slices.SortFunc(stored, func(a, b producer) int { return cmp.Compare(a.ID, b.ID) })
	return stored
}

// expire forgets producers that have been silent for longer than age milliseconds.
// As in Kafka, how long the records live has no part in it.
func (t producerTable) expire(now, age int64) {
	maps.DeleteFunc(t, func(_ int64, p *producer) bool { return now-p.LastSeen >= age })
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
	if newest, known := p.last(); known && first != nextSequence(newest.LastSequence) {
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

// record notes an accepted batch whose offsets are assigned. seen is the wall clock in ms.
func (t producerTable) record(b batch.Batch, seen int64) {
	if b.ProducerID() < 0 || b.Control() {
		return
	}
	p := t[b.ProducerID()]
	if p == nil || p.Epoch != b.ProducerEpoch() {
		p = &producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), Batches: make([]batchMark, 0, producerWindow)}
		t[p.ID] = p
	}
	if len(p.Batches) == producerWindow {
		copy(p.Batches, p.Batches[1:])
		p.Batches = p.Batches[:producerWindow-1]
	}
	p.LastSeen = seen
	p.Batches = append(p.Batches, batchMark{
		FirstSequence: b.BaseSequence(),
		LastSequence:  b.LastSequence(),
		BaseOffset:    b.BaseOffset(),
		LastOffset:    b.LastOffset(),
		Timestamp:     b.MaxTimestamp(),
	})
}

// states lists the table for administrators, in order of the ids.
func (t producerTable) states() []ProducerState {
	states := make([]ProducerState, 0, len(t))
	for _, p := range t {
		s := ProducerState{ID: p.ID, Epoch: p.Epoch, LastSequence: -1, LastSeen: p.LastSeen, LastOffset: -1}
		if m, known := p.last(); known {
			s.LastSequence, s.LastOffset = m.LastSequence, m.LastOffset
		}
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b ProducerState) int { return cmp.Compare(a.ID, b.ID) })
	return states
}
