package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// TestMixed plays random programs of everything that happens to a compacted log, with crashes in the midst of it, and compares what its clients see with
// a model: a list of records. KAAS_SEEDS says how many.
func TestMixed(t *testing.T) {
	seeds := uint64(20)
	if n, err := strconv.ParseUint(os.Getenv("KAAS_SEEDS"), 10, 32); err == nil {
		seeds = n
	}
	if testing.Short() {
		seeds = 5
	}
	list := []uint64{425, 491, 868} // which found that an inspection took dead segments, kept by slow readers, for alive
	for seed := range seeds {
		list = append(list, seed)
	}
	slices.Sort(list)
	for _, seed := range slices.Compact(list) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newMixed(t, seed).play(120) })
		})
	}
}

// mixedRecord is a record that was acknowledged.
type mixedRecord struct {
	key, value string // a deletion has no value
	producer   int64
	open       bool // its transaction is not decided
	aborted    bool
	marker     bool
}

// mixedProducer is a client that sends in order.
type mixedProducer struct {
	sequence int32 // of its next record
	last     batch.Batch
	at       int64 // where the last batch went, -1 for none
	identity int64
	open     []int64
}

type mixed struct {
	t         *testing.T
	random    *rand.Rand
	power     *powerSwitch
	fs        vfs.FS
	config    storage.Config
	engine    *storage.Engine
	p         *storage.Partition
	zombies   []*storage.Partition
	records   []mixedRecord // by offset
	start     int64
	producers map[int64]*mixedProducer
	clients   []*mixedClient
	slow      []slowReader
	history   []string
}

func newMixed(t *testing.T, seed uint64) *mixed {
	m := &mixed{
		t: t, random: rand.New(rand.NewPCG(seed, 7)), config: storage.DefaultConfig(), producers: map[int64]*mixedProducer{},
	}
	m.config.Compact, m.config.Delete, m.config.DeleteRetention, m.config.VerifyTransactions = true, false, time.Minute, false
	m.mount(vfs.NewCrash(64 << 20))
	must(t, create(m.fs))
	var err error
	m.engine, err = storage.NewEngine(storage.Options{RetentionInterval: -1, CompactionInterval: -1, CompactionMemory: 24 * (3 + m.random.IntN(12))})
	must(t, err)
	t.Cleanup(func() {
		m.endSlowReaders()
		must(t, m.engine.Close())
	})
	m.clients = []*mixedClient{newMixedClient(true), newMixedClient(false)}
	m.take()
	return m
}

// mount puts a switch around a disk.
func (m *mixed) mount(disk *vfs.Crash) {
	m.power = &powerSwitch{disk: disk}
	m.fs = vfs.NewFault(disk, m.power.before)
}

// powerSwitch cuts the power of a disk after a number of mutating calls: what is left is taken aside, and the calls go on.
type powerSwitch struct {
	disk *vfs.Crash

	mu   sync.Mutex
	left int // calls, 0 for never
	seed uint64
	cut  *vfs.Crash // what is left
}

func (s *powerSwitch) before(op vfs.Op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op.Kind.Mutating() && s.left > 0 {
		if s.left--; s.left == 0 {
			s.cut = s.disk.PowerCut(vfs.SurviveSeeded(s.seed))
		}
	}
	return nil
}

func (s *powerSwitch) arm(calls int, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.seed = calls, seed
}

// disarm returns what is left, nil if the power was not cut.
func (s *powerSwitch) disarm() *vfs.Crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = 0
	return s.cut
}

func (s *powerSwitch) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut != nil
}

func (m *mixed) play(steps int) {
	for range steps {
		step := m.choose()
		m.history = append(m.history, step.name)
		if len(m.history) > 40 {
			m.history = m.history[1:]
		}
		step.run()
		synctest.Wait()
		m.check()
		if m.t.Failed() {
			m.t.Fatalf("after %v", m.history)
		}
	}
	m.readAgain()
	m.endSlowReaders()
}

type mixedStep struct {
	name string
	run  func()
}

func (m *mixed) choose() mixedStep {
	switch n := m.random.IntN(100); {
	case n < 30:
		return mixedStep{"put", m.put}
	case n < 40:
		return mixedStep{"send", func() { m.send(int64(m.random.IntN(2)+1), false) }}
	case n < 55:
		return mixedStep{"send in transaction", func() { m.send(int64(m.random.IntN(3)+10), true) }}
	case n < 66:
		return mixedStep{"end", m.end}
	case n < 80:
		return mixedStep{"compact", func() { m.crashing(m.compact) }}
	case n < 83:
		return mixedStep{"delete records", m.deleteRecords}
	case n < 87:
		return mixedStep{"abandon, take", func() { m.crashing(func() { m.p.Abandon(); m.take() }) }}
	case n < 90:
		return mixedStep{"hand over, take", func() { m.crashing(func() { must(m.t, m.p.Handover(context.Background())); m.take() }) }}
	case n < 93:
		return mixedStep{"take from a zombie", func() { m.zombies = append(m.zombies, m.p); m.take() }}
	case n < 95:
		return mixedStep{"zombies compact", m.zombiesCompact}
	case n < 96:
		return mixedStep{"read slowly", m.readSlowly}
	case n < 98:
		return mixedStep{"time passes", m.timePasses}
	default:
		return mixedStep{"configure", m.configure}
	}
}

// crashing does something that acknowledges nothing, and cuts the power in the midst of it now and then.
func (m *mixed) crashing(f func()) {
	if m.random.IntN(3) == 0 {
		m.power.arm(1+m.random.IntN(25), m.random.Uint64())
	}
	f()
	synctest.Wait()
	left := m.power.disarm()
	if left == nil {
		return
	}
	m.history = append(m.history, "(power cut)")
	m.p.Abandon()
	for _, zombie := range m.zombies {
		zombie.Abandon()
	}
	synctest.Wait()
	m.zombies = nil
	m.mount(left)
	m.take()
}

func (m *mixed) take() {
	m.t.Helper()
	if m.power.isCut() {
		return // the power has been cut: this disk is history
	}
	p, err := takeFrom(m.engine, m.fs, m.config)
	must(m.t, err)
	m.p = p
}

func (m *mixed) configure() {
	m.config.SegmentBytes = int64(100 + m.random.IntN(900))
	m.config.IndexInterval = m.random.IntN(300)
	m.config.DeleteRetention = time.Duration(1+m.random.IntN(2)) * 30 * time.Second
	m.p.SetConfig(m.config)
}

// timePasses lets deletions expire. Whoever reads within their time must see them, so old clients read before it.
func (m *mixed) timePasses() {
	m.readAgain()
	time.Sleep(time.Duration(m.random.IntN(80)) * time.Second)
}

// slowReader holds a section whose bytes must not change.
type slowReader struct {
	section *storage.Section
	data    []byte
}

// readSlowly begins to read what there is, and ends what was begun before now and then.
func (m *mixed) readSlowly() {
	if m.random.IntN(2) == 0 {
		m.endSlowReaders()
	}
	section, err := m.p.Read(m.start, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
	must(m.t, err)
	if section == nil {
		return
	}
	data := make([]byte, section.Size())
	_, err = section.ReadAt(data, 0)
	must(m.t, err)
	m.slow = append(m.slow, slowReader{section, data})
}

func (m *mixed) endSlowReaders() {
	for _, reader := range m.slow {
		again := make([]byte, len(reader.data))
		if _, err := reader.section.ReadAt(again, 0); err != nil || !bytes.Equal(again, reader.data) {
			m.t.Errorf("a section changed: %v", err)
		}
		reader.section.Release()
	}
	m.slow = nil
}

func (m *mixed) compact() { must(m.t, m.p.Compact(context.Background())) }

func (m *mixed) zombiesCompact() {
	for _, zombie := range m.zombies {
		_ = zombie.Compact(context.Background())
		zombie.Abandon()
	}
	m.zombies = nil
}

func (m *mixed) deleteRecords() {
	before, asked := m.start, m.start+int64(m.random.IntN(int(m.p.Offsets().HighWatermark-m.start)+1))
	if m.random.IntN(4) == 0 {
		asked = m.p.Offsets().HighWatermark
	}
	m.crashing(func() {
		_, err := m.p.DeleteRecords(context.Background(), asked)
		must(m.t, err)
	})
	if m.start = m.p.Offsets().LogStart; m.start != before && m.start != asked {
		m.t.Errorf("log start %d, was %d, asked for %d", m.start, before, asked)
	}
}

// batch builds one of a few records, and what the model says of them.
func (m *mixed) batch(producer int64, sequence int32, transactional bool) (batch.Batch, []mixedRecord) {
	builder := batch.NewBuilder()
	builder.Compression = batch.Compression(m.random.IntN(4)) // zstd has goroutines that no bubble may wait for
	if producer > 0 {
		builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = producer, 0, sequence, transactional
	}
	var records []mixedRecord
	for i := range m.random.IntN(3) + 1 {
		r := mixedRecord{key: fmt.Sprint("k", m.random.IntN(8)), producer: producer, open: transactional}
		if m.random.IntN(4) > 0 {
			r.value = fmt.Sprint("v", len(m.records)+i)
			builder.Add(time.Now().UnixMilli(), []byte(r.key), []byte(r.value))
		} else {
			builder.Add(time.Now().UnixMilli(), []byte(r.key), nil)
		}
		records = append(records, r)
	}
	b, err := builder.Build()
	must(m.t, err)
	return b, records
}

func (m *mixed) append(b batch.Batch, records []mixedRecord) storage.AppendResult {
	ticket, err := m.p.Append(b, storage.AppendOptions{})
	must(m.t, err)
	must(m.t, ticket.WaitDurable(context.Background()))
	r := ticket.Result()
	if r.Duplicate || r.BaseOffset != int64(len(m.records)) {
		m.t.Errorf("append %+v at %d", r, len(m.records))
	}
	m.records = append(m.records, records...)
	return r
}

func (m *mixed) put() { m.append(m.batch(-1, 0, false)) }

// send is an idempotent producer's, which first sends its last batch again now and then.
func (m *mixed) send(id int64, transactional bool) {
	p := m.producers[id]
	if p == nil {
		p = &mixedProducer{at: -1}
		m.producers[id] = p
	}
	if p.at >= 0 && m.random.IntN(3) == 0 && (!transactional || len(p.open) > 0) {
		ticket, err := m.p.Append(append(batch.Batch(nil), p.last...), storage.AppendOptions{})
		must(m.t, err)
		must(m.t, ticket.WaitDurable(context.Background()))
		if r := ticket.Result(); !r.Duplicate || r.BaseOffset != p.at {
			m.t.Errorf("batch of producer %d at %d again: %+v", id, p.at, r)
		}
	}
	b, records := m.batch(id, p.sequence, transactional)
	p.last = append(batch.Batch(nil), b...)
	p.at = m.append(b, records).BaseOffset
	p.sequence += int32(len(records))
	for i := range records {
		if transactional {
			p.open = append(p.open, p.at+int64(i))
		}
	}
}

// end decides a producer's transaction.
func (m *mixed) end() {
	id := int64(m.random.IntN(3) + 10)
	p := m.producers[id]
	if p == nil || len(p.open) == 0 {
		return
	}
	p.identity++
	marker := batch.Marker{Commit: m.random.IntN(2) == 0, Identity: p.identity, HasIdentity: true}
	ticket, err := m.p.AppendMarker(storage.MarkerAppend{ProducerID: id, Marker: marker})
	must(m.t, err)
	must(m.t, ticket.WaitDurable(context.Background()))
	m.records = append(m.records, mixedRecord{marker: true})
	for _, offset := range p.open {
		m.records[offset].open, m.records[offset].aborted = false, !marker.Commit
	}
	p.open = nil
}
