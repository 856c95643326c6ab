package storagetest

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

func deleteRecordsTests() []test {
	return []test{
		{name: "in the midst of a batch", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 5)
			s.deleteRecords(p, 3, 3)
			s.bounds(p, 3, 5)
			s.holds(p, 3, "a-3", "a-4")
			_, err := p.Read(2, storage.ReadOptions{MaxBytes: 100})
			s.want(err, storage.ErrOffsetOutOfRange)
			p = s.again(p)
			s.bounds(p, 3, 5)
			s.holds(p, 3, "a-3", "a-4")
		}},
		{name: "segments go", virtual: true, run: func(s *scene) {
			s.config.SegmentBytes, s.config.RetentionAge = 1, -1
			p := s.take()
			for range 5 {
				s.append(p, "a", 2)
			}
			s.deleteRecords(p, 6, 6)
			s.pass() // files are removed beside the service
			if logs := s.logs(); len(logs) != 2 {
				s.Fatalf("segments %v, want 2", logs)
			}
			s.holds(p, 6, "a-0", "a-1", "a-0", "a-1")
		}},
		{name: "everything", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 5)
			s.deleteRecords(p, -1, 5)
			s.bounds(p, 5, 5)
			s.append(p, "b", 1)
			p = s.handedOver(p)
			s.bounds(p, 5, 6)
			s.holds(p, 5, "b-0")
		}},
		{name: "backwards changes nothing", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 5)
			s.deleteRecords(p, 3, 3)
			s.deleteRecords(p, 1, 3)
			s.bounds(s.again(p), 3, 5)
		}},
		{name: "outside", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 5)
			for _, offset := range []int64{-2, 6} {
				_, err := p.DeleteRecords(context.Background(), offset)
				s.want(err, storage.ErrOffsetOutOfRange)
			}
			s.bounds(p, 0, 5)
		}},
		{name: "a section that is being sent keeps its bytes", run: keepsSections},
	}
}

func keepsSections(s *scene) {
	s.config.SegmentBytes = 1
	p := s.take()
	s.append(p, "a", 5)
	s.append(p, "b", 1)
	section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1000})
	s.ok(err)
	s.deleteRecords(p, -1, 6)
	data := make([]byte, section.Size())
	_, err = section.ReadAt(data, 0)
	s.ok(err)
	section.Release()
	r := reader{t: s}
	r.batches(data)
	if len(r.values) != 5 {
		s.Fatalf("the section held %v", r.values)
	}
}

func (s *scene) deleteRecords(p *storage.Partition, offset, want int64) {
	s.Helper()
	start, err := p.DeleteRecords(context.Background(), offset)
	s.ok(err)
	if start != want {
		s.Fatalf("log start %d, want %d", start, want)
	}
}

// retained is a log and what a pass of retention leaves of it.
type retained struct {
	name   string
	config func(c *storage.Config)
	ages   []time.Duration // of the records at the pass; each is a batch and a segment of its own
	start  int64
}

func retentionTests() []test {
	const day = 24 * time.Hour
	size := int64(71) // of a batch with the one record "a-0", which the test checks
	var tests []test
	for _, c := range []retained{
		{"young", nil, []time.Duration{day, 2 * day, 0}, 0},
		{"old ones first", nil, []time.Duration{9 * day, 8 * day, day, 0}, 2},
		{"an old one behind a young one stays", nil, []time.Duration{9 * day, day, 8 * day, 0}, 1},
		{"the active segment too", nil, []time.Duration{9 * day, 8 * day}, 2},
		{"in the future", nil, []time.Duration{-day, 9 * day}, 0},
		{"by age off", func(c *storage.Config) { c.RetentionAge = -1 }, []time.Duration{1000 * day, day}, 0},
		{"by size", func(c *storage.Config) { c.RetentionBytes = 2 * size }, []time.Duration{4, 3, 2, 1, 0}, 3},
		{"by size, just over", func(c *storage.Config) { c.RetentionBytes = 2*size + 1 }, []time.Duration{4, 3, 2, 1, 0}, 2},
		{"nothing at all", func(c *storage.Config) { c.RetentionBytes = 0 }, []time.Duration{0, 0}, 2},
		{"policy without delete", func(c *storage.Config) { c.Delete, c.RetentionBytes = false, 0 }, []time.Duration{9 * day, 0}, 0},
	} {
		tests = append(tests,
			test{name: c.name, virtual: true, run: func(s *scene) { s.retain(c, size, false) }},
			test{name: c.name + ", reopened", virtual: true, run: func(s *scene) { s.retain(c, size, true) }})
	}
	return tests
}

func (s *scene) retain(c retained, size int64, reopen bool) {
	s.Helper()
	s.config.SegmentBytes = 1
	if c.config != nil {
		c.config(&s.config)
	}
	p := s.take()
	for _, age := range c.ages {
		r := Append(s, p, Records(s, "a", 1, time.Now().Add(-age).UnixMilli()))
		if r.BaseOffset == 0 && p.Size() != size {
			s.Fatalf("a batch has %d bytes", p.Size())
		}
	}
	if reopen {
		p = s.handedOver(p)
	}
	s.pass()
	end := int64(len(c.ages))
	s.bounds(p, c.start, end)
	if got := len(Values(s, p, c.start)); got != int(end-c.start) {
		s.Fatalf("%d records left", got)
	}
	if logs := s.logs(); len(logs) != int(end-c.start) {
		s.Fatalf("log files left: %v", logs)
	}
	if r := Append(s, p, Records(s, "a", 1, time.Now().UnixMilli())); r.BaseOffset != end {
		s.Fatalf("next offset %d", r.BaseOffset)
	}
}
