package storage

import (
	"context"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// stepped is a partition in which a test does something at each step of whoever takes or sets an ordered number.
type stepped struct {
	*Partition
	t *testing.T
	// at is called at each step, but for those of what it does itself.
	at   func()
	busy bool

	sequence int32
	first    int64 // of the transaction that is open or was the last, -1 before
	marker   int64 // that ended it, -1 while it is open
}

// newStepped has a segment with one record of nobody.
func newStepped(t *testing.T) *stepped {
	t.Helper()
	memory := vfs.NewMem(16 << 20)
	engine, err := NewEngine(Options{RetentionInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	if err := memory.MkdirAll("p"); err != nil {
		t.Fatal(err)
	}
	dir, err := memory.OpenDir("p")
	if err != nil {
		t.Fatal(err)
	}
	if err := InitPartition(dir, 0); err != nil {
		t.Fatal(err)
	}
	config := DefaultConfig()
	config.VerifyTransactions = false
	s := &stepped{t: t, first: -1, marker: -1}
	if s.Partition, err = engine.Take(context.Background(), dir, TakeOptions{Label: "p", Config: config}); err != nil {
		t.Fatal(err)
	}
	s.plain()
	s.transactions.unstable.step, s.active.reaching.step = s.step, s.step
	return s
}

func (s *stepped) step() {
	if s.busy || s.at == nil {
		return
	}
	s.busy = true
	defer func() { s.busy = false }()
	s.at()
}

func (s *stepped) plain() { s.add(batch.NewBuilder()) }

// begin has the first batch of a transaction, or a further one.
func (s *stepped) begin() {
	if s.first < 0 || s.marker >= 0 {
		s.first, s.marker = s.logEnd.Load(), -1
	}
	b := batch.NewBuilder()
	b.ProducerID, b.ProducerEpoch, b.BaseSequence, b.Transactional = 1, 0, s.sequence, true
	s.sequence++
	s.add(b)
}

func (s *stepped) add(b *batch.Builder) {
	s.t.Helper()
	b.Add(1000, nil, []byte("a"))
	built, err := b.Build()
	if err != nil {
		s.t.Error(err)
		return
	}
	s.wait(s.Append(built, AppendOptions{}))
}

func (s *stepped) abort() {
	s.marker = s.logEnd.Load()
	s.wait(s.AppendMarker(MarkerAppend{ProducerID: 1, Marker: batch.Marker{}}))
}

func (s *stepped) wait(ticket Ticket, err error) {
	s.t.Helper()
	if err == nil {
		err = ticket.WaitDurable(context.Background())
	}
	if err != nil {
		s.t.Error(err)
	}
}

// undecided is the first offset of a transaction whose marker is not below the watermark, -1 for none.
func (s *stepped) undecided() int64 {
	if s.marker >= 0 && s.watermark.Load() > s.marker {
		return -1
	}
	return s.first
}

// judgeBounds: nothing undecided is below the last stable offset.
func (s *stepped) judgeBounds(place string, bounds Offsets) {
	s.t.Helper()
	if first := s.undecided(); first >= 0 && bounds.LastStable > first {
		s.t.Errorf("%s: the last stable offset is %d, the transaction that began at %d is undecided", place, bounds.LastStable, first)
	}
}

// judgeRead: readers of committed records get nothing undecided.
func (s *stepped) judgeRead(place string, section *Section) {
	s.t.Helper()
	if section == nil {
		return
	}
	defer section.Release()
	data := make([]byte, section.Size())
	if _, err := section.ReadAt(data, 0); err != nil {
		s.t.Errorf("%s: read: %v", place, err)
	}
	for first := s.undecided(); len(data) > 0; {
		b, rest, err := batch.Next(data)
		if err != nil {
			s.t.Errorf("%s: %v", place, err)
			return
		}
		if first >= 0 && b.BaseOffset() >= first {
			s.t.Errorf("%s: read at offset %d, the transaction that began at %d is undecided", place, b.BaseOffset(), first)
		}
		data = rest
	}
}

func (s *stepped) read() *Section {
	section, err := s.Read(0, ReadOptions{MaxBytes: 1 << 20, Committed: true})
	if err != nil {
		s.t.Errorf("read: %v", err)
	}
	return section
}

// A reader comes whole between any two steps of a writer.
func TestReaderBetweenTheStepsOfAWriter(t *testing.T) {
	s := newStepped(t)
	steps := 0
	s.at = func() {
		steps++
		s.judgeBounds(fmt.Sprint("step ", steps), s.Offsets())
		s.judgeRead(fmt.Sprint("step ", steps), s.read())
	}
	for range 3 {
		s.plain()
		s.begin()
		s.begin()
		s.abort()
	}
	s.begin()
	if steps < 20 {
		t.Errorf("only %d steps", steps)
	}
}

// A writer comes whole between any two steps of a reader.
func TestWriterBetweenTheStepsOfAReader(t *testing.T) {
	nothing := func(*stepped) {}
	for name, writer := range map[string]struct{ before, during func(s *stepped) }{
		"a transaction begins":         {nothing, (*stepped).begin},
		"it goes on":                   {(*stepped).begin, (*stepped).begin},
		"it ends":                      {(*stepped).begin, (*stepped).abort},
		"it ends, and another begins":  {(*stepped).begin, func(s *stepped) { s.abort(); s.begin() }},
		"a record of nobody behind it": {(*stepped).begin, (*stepped).plain},
	} {
		t.Run(name, func(t *testing.T) {
			for last, step := false, 1; !last; step++ {
				s := newStepped(t)
				writer.before(s)
				steps := 0
				s.at = func() {
					if steps++; steps == step {
						writer.during(s)
					}
				}
				s.judgeBounds(fmt.Sprint("bounds, step ", step), s.Offsets())
				last = steps < step
				steps = 0
				s.judgeRead(fmt.Sprint("read, step ", step), s.read())
				last = last && steps < step
				if last && step < 5 {
					t.Errorf("a read has only %d steps", steps)
				}
			}
		})
	}
}
