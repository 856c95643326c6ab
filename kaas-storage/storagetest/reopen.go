package storagetest

import (
	"context"
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
)

func segmentTests() []test {
	return []test{
		{name: "a new one when the size is reached", run: func(s *scene) {
			size := int64(len(Records(s, "a", 1, 0)))
			s.config.SegmentBytes = 2 * size
			p := s.take()
			for range 5 {
				s.append(p, "a", 1)
			}
			if logs := s.logs(); len(logs) != 3 {
				s.Fatalf("segments %v, want 3", logs)
			}
			if p.Size() != 5*size {
				s.Fatalf("size %d, want %d", p.Size(), 5*size)
			}
			s.holds(p, 1, "a-0", "a-0", "a-0", "a-0")
			p = s.handedOver(p)
			s.holds(p, 1, "a-0", "a-0", "a-0", "a-0")
		}},
		{name: "settings change while open", virtual: true, run: changeSettings},
	}
}

func changeSettings(s *scene) {
	p := s.take()
	change := func(f func(c *storage.Config)) {
		c := p.Config()
		f(&c)
		p.SetConfig(c)
	}
	write := func(segments int) storage.AppendResult {
		result := Append(s, p, Records(s, "a", 1, time.Now().UnixMilli()))
		if logs := s.logs(); len(logs) != segments {
			s.Fatalf("segments %v, want %d", logs, segments)
		}
		return result
	}
	write(1)
	write(1)
	change(func(c *storage.Config) { c.SegmentBytes = 1 })
	write(2)
	change(func(c *storage.Config) { c.SegmentBytes, c.SegmentAge = 1<<20, time.Hour })
	write(2)
	time.Sleep(time.Hour)
	write(3)
	change(func(c *storage.Config) { c.AppendTime = true })
	if r := write(3); r.AppendTime != time.Now().UnixMilli() {
		s.Fatalf("append time %d", r.AppendTime)
	}
	change(func(c *storage.Config) { c.RetentionBytes = 0 })
	s.pass()
	s.bounds(p, 6, 6)
}

func reopenTests() []test {
	return []test{
		{name: "an empty log", run: func(s *scene) {
			p := s.again(s.handedOver(s.again(s.take())))
			s.bounds(p, 0, 0)
			s.append(p, "a", 1)
			s.holds(p, 0, "a-0")
		}},
		{name: "after nothing, an end without a word, a handover", run: reopenMany},
		{name: "a log of which nothing is left", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 5)
			_, err := p.DeleteRecords(context.Background(), -1)
			s.ok(err)
			for range 3 {
				p = s.again(p)
				s.bounds(p, 5, 5)
			}
			s.append(p, "b", 1)
			p = s.again(p)
			s.bounds(p, 5, 6)
			s.holds(p, 5, "b-0")
		}},
		{name: "a directory that was never prepared", run: func(s *scene) {
			s.ok(s.fs.MkdirAll("q"))
			_, err := s.engine.Take(context.Background(), s.openDir("q"), storage.TakeOptions{Label: "q", Config: s.config})
			s.want(err, storage.ErrNoManifest)
		}},
	}
}

func reopenMany(s *scene) {
	s.config.SegmentBytes = 300
	var want []string
	for round := range 20 {
		p := s.take()
		for i := range 5 {
			tag := fmt.Sprintf("r%d.%d", round, i)
			Append(s, p, Records(s, tag, 2, int64(1000*round+i)))
			want = append(want, tag+"-0", tag+"-1")
		}
		switch round % 3 {
		case 0:
			s.ok(p.Handover(context.Background()))
		case 1:
			p.Abandon()
		}
		s.holds(s.take(), 0, want...)
	}
	p := s.take()
	start, err := p.DeleteRecords(context.Background(), 101)
	s.ok(err)
	if start != 101 {
		s.Fatalf("log start %d", start)
	}
	s.holds(p, 101, want[101:]...)
	p = s.handedOver(p)
	s.bounds(p, 101, 200)
	s.holds(p, 101, want[101:]...)
}
