package compaction_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// modelRecord is a record as it was appended, with its fate.
type modelRecord struct {
	key, value string
	deletion   bool
	timestamp  int64
	aborted    bool
	seenAt     int64 // when the first compaction saw it, for a deletion; -1 = none yet
}

// model appends at random and knows what must be there, by rules of its own: it looks at single records, never at batches.
type model struct {
	t       *testing.T
	random  *rand.Rand
	log     []batch.Batch
	next    int64
	records map[int64]*modelRecord
	open    map[int64][]int64 // offsets of the open transactions, by producer
	aborted []compaction.Aborted
	last    map[int64]compaction.Producer

	now, firstDirty int64
	retention       int64
}

func newModel(t *testing.T, seed uint64) *model {
	return &model{
		t: t, random: rand.New(rand.NewPCG(seed, 1)), records: map[int64]*modelRecord{}, open: map[int64][]int64{},
		last: map[int64]compaction.Producer{}, retention: 50,
	}
}

func (m *model) append() {
	if producer := int64(m.random.IntN(3) + 1); m.random.IntN(4) == 0 && len(m.open[producer]) > 0 {
		m.end(producer, m.random.IntN(2) == 0)
		return
	}
	builder := batch.NewBuilder()
	builder.BaseOffset, builder.Compression, builder.AppendTime = m.next, batch.Compression(m.random.IntN(5)), m.random.IntN(8) == 0
	producer := int64(m.random.IntN(5))
	if producer > 0 {
		builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = producer, 0, int32(m.next)
		builder.Transactional = producer < 4
	}
	stamp := m.now*10 + 7
	first := m.next
	for range m.random.IntN(5) + 1 {
		r := &modelRecord{key: fmt.Sprint(m.random.IntN(12)), value: fmt.Sprint(m.next), timestamp: m.now*10 + int64(m.random.IntN(20)) - 10, deletion: m.random.IntN(4) == 0, seenAt: -1}
		value := []byte(r.value)
		if r.deletion {
			value = nil
		}
		builder.Add(r.timestamp, []byte(r.key), value, batch.Header{Key: "of", Value: []byte(r.value)})
		if builder.AppendTime {
			r.timestamp = stamp
		}
		m.records[m.next] = r
		if builder.Transactional {
			m.open[producer] = append(m.open[producer], m.next)
		}
		m.next++
	}
	b, err := builder.Build()
	if err != nil {
		m.t.Fatal(err)
	}
	if builder.AppendTime {
		b.StampAppendTime(stamp)
	}
	if b.BaseOffset() != first || b.LastOffset() != m.next-1 {
		m.t.Fatalf("built %d to %d", b.BaseOffset(), b.LastOffset())
	}
	if producer > 0 {
		m.last[producer] = compaction.Producer{LastOffset: b.LastOffset()}
	}
	m.log = append(m.log, b)
}

func (m *model) end(producer int64, commit bool) {
	b, err := batch.NewMarkerBatch(batch.Marker{Commit: commit}, producer, 0, m.now)
	if err != nil {
		m.t.Fatal(err)
	}
	b.SetBaseOffset(m.next)
	m.log = append(m.log, b)
	if !commit {
		for _, offset := range m.open[producer] {
			m.records[offset].aborted = true
		}
		m.aborted = append(m.aborted, aborts(producer, m.open[producer][0], m.next))
	}
	delete(m.open, producer)
	m.next++
}

// stable is the first offset of an open transaction, or the end.
func (m *model) stable() int64 {
	stable := m.next
	for _, offsets := range m.open {
		stable = min(stable, offsets[0])
	}
	return stable
}

// compact runs one compaction below a random stable batch border.
func (m *model) compact() {
	end := int64(0)
	for _, b := range m.log {
		if b.LastOffset() < m.stable() && m.random.IntN(6) > 0 {
			end = b.LastOffset() + 1
		}
	}
	end = max(end, m.firstDirty)
	scope := compaction.Scope{
		FirstDirty: m.firstDirty, End: end, Now: m.now, DeleteRetention: ms(m.retention), Producers: m.last, MapBytes: 24 * (2 + m.random.IntN(20)),
	}
	for _, a := range m.aborted {
		if a.FirstOffset < end {
			scope.Aborted = append(scope.Aborted, a)
		}
	}
	m.random.Shuffle(len(scope.Aborted), func(i, j int) { scope.Aborted[i], scope.Aborted[j] = scope.Aborted[j], scope.Aborted[i] })
	got := compact(m.t, m.log, scope)
	next := got.plan.NextDirty()
	if next <= m.firstDirty && end > m.firstDirty {
		m.t.Fatalf("no progress: next dirty offset %d, was %d, end %d", next, m.firstDirty, end)
	}
	m.log, m.firstDirty = got.log, next
	kept := got.aborted
	for _, a := range m.aborted {
		if a.FirstOffset >= end {
			kept = append(kept, a)
		}
	}
	m.aborted = kept
	m.check(next)
}

// check compares the log with what must be there of the records below next, and with all of them above.
func (m *model) check(next int64) {
	m.t.Helper()
	newest := map[string]int64{}
	for offset := range next {
		if r := m.records[offset]; r != nil && !r.aborted {
			newest[r.key] = offset
		}
	}
	present := m.present()
	for offset := range m.next {
		r := m.records[offset]
		if r == nil {
			continue
		}
		want := true
		if offset < next {
			want = !r.aborted && newest[r.key] == offset
			if want && r.deletion {
				if r.seenAt < 0 {
					r.seenAt = m.now
				}
				if m.now >= r.seenAt+m.retention {
					continue // may be gone, and stays while its batch was not rebuilt for the first time
				}
			}
		}
		if present[offset] != want && (offset < next || !r.aborted) {
			m.t.Fatalf("at %d, below %d: record %d of key %s (deletion %v, aborted %v, first seen %d) is there: %v", m.now, next, offset, r.key, r.deletion, r.aborted, r.seenAt, present[offset])
		}
	}
	m.checkBatches()
}

// present reads the log; each record must be one that was appended, unchanged.
func (m *model) present() map[int64]bool {
	present := map[int64]bool{}
	for _, b := range m.log {
		if b.Control() {
			continue
		}
		largest := batch.NoTimestamp
		for record, err := range b.Records(nil, batch.SiteTool, 0) {
			if err != nil {
				m.t.Fatal(err)
			}
			offset, ts := b.BaseOffset()+int64(record.OffsetDelta), b.BaseTimestamp()+record.TimestampDelta
			if b.AppendTime() {
				ts = b.MaxTimestamp()
			}
			r := m.records[offset]
			if r == nil || string(record.Key) != r.key || (record.Value == nil) != r.deletion || !r.deletion && string(record.Value) != r.value ||
				ts != r.timestamp || len(record.Headers) != 1 || string(record.Headers[0].Value) != r.value {
				m.t.Fatalf("offset %d holds %+v at %d, appended was %+v", offset, record, ts, r)
			}
			present[offset] = true
			largest = max(largest, ts)
		}
		if b.Count() > 0 && b.MaxTimestamp() != largest {
			m.t.Fatalf("batch at offset %d has largest timestamp %d, its records %d", b.BaseOffset(), b.MaxTimestamp(), largest)
		}
	}
	return present
}

// checkBatches looks for each producer's last batch, and for the entry and marker of whatever is left of an aborted transaction.
func (m *model) checkBatches() {
	last := map[int64]int64{}
	markers := map[int64]bool{}
	for _, b := range m.log {
		if b.Control() {
			markers[b.BaseOffset()] = true
		} else if b.ProducerID() > 0 {
			last[b.ProducerID()] = b.LastOffset()
		}
	}
	for id, want := range m.last {
		if last[id] != want.LastOffset {
			m.t.Fatalf("last batch of producer %d ends at %d, must at %d", id, last[id], want.LastOffset)
		}
	}
	for _, b := range m.log {
		for record, err := range b.Records(nil, batch.SiteTool, 0) {
			if r := m.records[b.BaseOffset()+int64(record.OffsetDelta)]; err == nil && r != nil && r.aborted && !m.covered(b, markers) {
				m.t.Fatalf("aborted record at offset %d has no entry or no marker", b.BaseOffset()+int64(record.OffsetDelta))
			}
		}
	}
}

func (m *model) covered(b batch.Batch, markers map[int64]bool) bool {
	for _, a := range m.aborted {
		if a.ProducerID == b.ProducerID() && a.FirstOffset <= b.BaseOffset() && b.LastOffset() < a.LastOffset {
			return markers[a.LastOffset]
		}
	}
	return false
}

// settle compacts all of the log until nothing is due any more: then only the newest values are there.
func (m *model) settle() {
	for producer := range m.open {
		m.end(producer, true)
	}
	m.last = map[int64]compaction.Producer{}
	for range 200 {
		m.now += m.retention
		m.compact()
	}
	newest := map[string]*modelRecord{}
	for offset := range m.firstDirty {
		if r := m.records[offset]; r != nil && !r.aborted {
			newest[r.key] = r
		}
	}
	for offset := range m.present() {
		if r := m.records[offset]; offset < m.firstDirty && (r.deletion || newest[r.key] != r) {
			m.t.Fatalf("offset %d of key %s is still there", offset, r.key)
		}
	}
	if len(m.aborted) > 0 && m.aborted[0].LastOffset < m.firstDirty {
		m.t.Fatalf("entries %v of aborted transactions are still there", m.aborted)
	}
}

func TestModel(t *testing.T) {
	seeds := uint64(60)
	if n, err := strconv.ParseUint(os.Getenv("KAAS_SEEDS"), 10, 32); err == nil {
		seeds = n
	}
	if testing.Short() {
		seeds = min(seeds, 10)
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := newModel(t, seed)
			for range 150 {
				m.now += int64(m.random.IntN(10))
				m.append()
				if m.random.IntN(12) == 0 {
					m.compact()
				}
			}
			m.settle()
		})
	}
}
