package storage

import "fmt"

// indexCheck follows the batches of a segment with the entries of one of its indexes. A sparse index may leave out anything; what it says must be so.
type indexCheck struct {
	file    string
	size    int64
	entries []indexedBatch
	next    int
	newest  bool // the index tells the largest value so far, not the batch's own
	largest int64
	any     bool
}

// indexedBatch says that the batch whose last offset is base+relative has value.
type indexedBatch struct {
	value    int64
	relative uint32
}

func (v *verifier) openIndexes(s *segment) (offsets, times *indexCheck, err error) {
	stored := s.index.counts()
	offsets = &indexCheck{file: s.offsets.name.String(), size: offsetEntrySize}
	times = &indexCheck{file: s.times.name.String(), size: timeEntrySize, newest: true}
	found, err := readEntries(v.inspection.dir, offsets.file, offsetEntrySize, stored.OffsetEntries)
	if err != nil {
		return nil, nil, s.fail("read index", err)
	}
	for _, b := range found {
		e := decodeOffsetEntry(b)
		offsets.entries = append(offsets.entries, indexedBatch{int64(e.position), e.relative})
	}
	if found, err = readEntries(v.inspection.dir, times.file, timeEntrySize, stored.TimeEntries); err != nil {
		return nil, nil, s.fail("read time index", err)
	}
	for _, b := range found {
		e := decodeTimeEntry(b)
		times.entries = append(times.entries, indexedBatch{e.timestamp, e.relative})
	}
	return offsets, times, nil
}

// pass is called for each batch, in order.
func (c *indexCheck) pass(v *verifier, value int64, relative uint32) {
	if !c.newest || !c.any || value > c.largest {
		c.largest, c.any = value, true
	}
	for c.next < len(c.entries) && c.entries[c.next].relative <= relative {
		switch e := c.entries[c.next]; {
		case e.relative < relative:
			c.wrong(v, "no batch ends at its offset, or the entries are out of order")
		case e.value != c.largest:
			c.wrong(v, fmt.Sprintf("says %d, it is %d", e.value, c.largest))
		}
		c.next++
	}
}

// finish is called behind the last batch.
func (c *indexCheck) finish(v *verifier) {
	if c.next < len(c.entries) {
		c.wrong(v, "speaks of offsets behind the segment's end")
	}
}

func (c *indexCheck) wrong(v *verifier, what string) {
	v.damagedf(c.file, int64(c.next)*c.size, "entry %d %s", c.next, what)
}
