package storage_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// mixedClient is a consumer that keeps the newest value of each key, as clients of a compacted topic do. It follows the rules of Kafka's Java client.
type mixedClient struct {
	committed bool
	next      int64
	table     map[string]mixedValue
}

type mixedValue struct {
	value  string
	offset int64
}

func newMixedClient(committed bool) *mixedClient {
	return &mixedClient{committed: committed, table: map[string]mixedValue{}}
}

// check lets everybody read to the end: clients that have read before, and new ones.
func (m *mixed) check() {
	if m.p.Err() != nil || int64(len(m.records)) != m.p.Offsets().HighWatermark {
		m.t.Errorf("%+v of %d records, the leadership: %v", m.p.Offsets(), len(m.records), m.p.Err())
		return
	}
	for _, committed := range []bool{true, false} {
		fresh := newMixedClient(committed)
		if err := m.catchUp(fresh); err != nil {
			m.t.Errorf("new client, committed %t: %v", committed, err)
		}
	}
	if m.random.IntN(4) == 0 {
		m.readAgain()
	}
	if err := inspectSound(m.fs); err != nil {
		m.t.Error(err)
	}
}

// readAgain lets the clients that have read before read on.
func (m *mixed) readAgain() {
	for _, client := range m.clients {
		if err := m.catchUp(client); err != nil {
			m.t.Errorf("old client, committed %t: %v", client.committed, err)
		}
	}
}

// stable is where the first open transaction begins.
func (m *mixed) stable() int64 {
	for offset, r := range m.records {
		if r.open {
			return max(int64(offset), m.start)
		}
	}
	return int64(len(m.records))
}

func (m *mixed) catchUp(c *mixedClient) error {
	c.next = max(c.next, m.start)
	end := int64(len(m.records))
	if c.committed {
		end = m.stable()
		if stable := m.p.Offsets().LastStable; stable != end {
			return fmt.Errorf("last stable offset %d instead of %d", stable, end)
		}
	}
	for c.next < end {
		more, err := m.fetch(c, end)
		if err != nil {
			return fmt.Errorf("at offset %d: %w", c.next, err)
		}
		if !more {
			break
		}
	}
	return m.compare(c, end)
}

// fetch is one fetch of a client. more is false when there is nothing.
func (m *mixed) fetch(c *mixedClient, end int64) (more bool, err error) {
	section, err := m.p.Read(c.next, storage.ReadOptions{MaxBytes: m.random.IntN(600), AtLeastOneBatch: true, Committed: c.committed})
	if err != nil || section == nil {
		return false, err
	}
	defer section.Release()
	data := make([]byte, section.Size())
	if _, err := section.ReadAt(data, 0); err != nil {
		return false, err
	}
	var aborted []storage.AbortedTransaction
	if c.committed {
		behind, err := section.End()
		if err != nil {
			return false, err
		}
		if aborted, err = m.p.AbortedIn(c.next, behind); err != nil {
			return false, err
		}
		slices.SortFunc(aborted, func(a, b storage.AbortedTransaction) int { return cmp.Compare(a.FirstOffset, b.FirstOffset) })
	}
	skipped := map[int64]bool{}
	from := c.next
	for {
		b, rest, err := batch.Next(data)
		if err != nil {
			break // cut
		}
		data = rest
		for len(aborted) > 0 && aborted[0].FirstOffset <= b.LastOffset() {
			skipped[aborted[0].ProducerID] = true
			aborted = aborted[1:]
		}
		if err := m.deliver(c, b, skipped, end); err != nil {
			return false, err
		}
		c.next = b.LastOffset() + 1
	}
	if c.next == from {
		return false, fmt.Errorf("%d bytes are not one batch", section.Size())
	}
	return true, nil
}

func (m *mixed) deliver(c *mixedClient, b batch.Batch, skipped map[int64]bool, end int64) error {
	if b.LastOffset() < c.next || b.LastOffset() >= end || !b.ValidCRC() {
		return fmt.Errorf("batch of offsets %d to %d, the end is %d", b.BaseOffset(), b.LastOffset(), end)
	}
	if b.Control() {
		if b.Count() > 0 {
			marker, _, err := b.Marker(nil)
			if err != nil {
				return err
			}
			if !marker.Commit {
				delete(skipped, b.ProducerID())
			}
		}
		return nil
	}
	if b.Transactional() && skipped[b.ProducerID()] {
		return nil
	}
	for record, err := range b.Records(nil, batch.SiteTool, 1<<20) {
		if err != nil {
			return err
		}
		offset := b.BaseOffset() + int64(record.OffsetDelta)
		if offset < c.next {
			continue
		}
		want := m.records[offset]
		if string(record.Key) != want.key || string(record.Value) != want.value || (record.Value == nil) != (want.value == "") || want.marker {
			return fmt.Errorf("offset %d holds %s=%s, acknowledged was %+v", offset, record.Key, record.Value, want)
		}
		if c.committed && (want.aborted || want.open) {
			return fmt.Errorf("offset %d is shown: %+v", offset, want)
		}
		if record.Value == nil {
			delete(c.table, want.key)
			continue
		}
		c.table[want.key] = mixedValue{want.value, offset}
	}
	return nil
}

// compare wants the newest value of each key in the client's table, and no other. Of those who also see what was aborted only what is committed must be there:
// the rest goes when it will.
func (m *mixed) compare(c *mixedClient, end int64) error {
	want := map[string]mixedValue{}
	shown := map[string]int64{} // newest of each key, whatever became of it
	for offset := m.start; offset < end; offset++ {
		r := m.records[offset]
		if r.marker {
			continue
		}
		if r.aborted || r.open {
			shown[r.key] = offset
			continue
		}
		delete(want, r.key)
		if r.value != "" {
			want[r.key] = mixedValue{r.value, offset}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.table)) {
		got := c.table[key]
		if _, uncertain := shown[key]; got.offset < m.start || !c.committed && uncertain {
			continue
		}
		if got != want[key] {
			return fmt.Errorf("key %s is %+v, must be %+v", key, got, want[key])
		}
	}
	for key, value := range want {
		if _, uncertain := shown[key]; !c.committed && uncertain {
			continue
		}
		if got := c.table[key]; got != value {
			return fmt.Errorf("key %s is %+v, must be %+v", key, got, value)
		}
	}
	return nil
}
