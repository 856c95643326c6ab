package storagetest

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func appendTests() []test {
	return []test{
		{name: "offsets follow one another", run: func(s *scene) {
			p := s.take()
			s.bounds(p, 0, 0)
			first, second := s.append(p, "a", 3), s.append(p, "b", 2)
			if first.BaseOffset != 0 || first.LastOffset != 2 || second.BaseOffset != 3 || second.LastOffset != 4 {
				s.Fatalf("offsets: %+v %+v", first, second)
			}
			s.bounds(p, 0, 5)
			s.holds(p, 1, "a-1", "a-2", "b-0", "b-1")
		}},
		{name: "reading at the end and outside", run: func(s *scene) {
			p := s.take()
			s.append(p, "a", 3)
			section, err := p.Read(3, storage.ReadOptions{MaxBytes: 100})
			s.ok(err)
			if section != nil {
				s.Fatalf("%d bytes at the end", section.Size())
			}
			for _, offset := range []int64{-1, 4} {
				_, err := p.Read(offset, storage.ReadOptions{MaxBytes: 100})
				s.want(err, storage.ErrOffsetOutOfRange)
			}
		}},
		{name: "the bytes that were appended", run: byteForByte},
		{name: "the size of a read", run: sizesOfReads},
		{name: "many at a time", run: manyAppenders},
		{name: "a wait for more", run: func(s *scene) {
			p := s.take()
			moved := make(chan struct{}, 1)
			stop := p.Watch(moved)
			defer stop()
			s.append(p, "a", 1)
			<-moved
			s.bounds(p, 0, 1)
		}},
	}
}

// The offset and the leader epoch are the log's, all else is the producer's.
func byteForByte(s *scene) {
	p := s.take()
	s.append(p, "before", 7)
	b := Records(s, "value", 5, 1_700_000_000_000)
	want := batch.Batch(bytes.Clone(b))
	Append(s, p, b)
	want.SetBaseOffset(7)
	want.SetLeaderEpoch(int32(p.Epoch()))
	for range 2 {
		section, err := p.Read(7, storage.ReadOptions{MaxBytes: 1 << 20})
		s.ok(err)
		got := make([]byte, section.Size())
		_, err = section.ReadAt(got, 0)
		s.ok(err)
		section.Release()
		if !bytes.Equal(got, want) {
			s.Fatalf("read\n%x, appended was\n%x", got, want)
		}
		p = s.again(p)
	}
}

func sizesOfReads(s *scene) {
	p := s.take()
	one := int64(len(Records(s, "a", 1, 0)))
	for range 3 {
		s.append(p, "a", 1)
	}
	for _, c := range []struct {
		limit int
		whole bool
		want  int64
	}{
		{limit: 1 << 20, want: 3 * one},
		{limit: int(2*one) + 5, want: 2*one + 5},
		{limit: int(one), want: one},
		{limit: 5, whole: true, want: one},
		{limit: int(one) + 5, whole: true, want: one + 5},
	} {
		section, err := p.Read(0, storage.ReadOptions{MaxBytes: c.limit, AtLeastOneBatch: c.whole})
		s.ok(err)
		if section.Size() != c.want {
			s.Errorf("at most %d bytes, first batch whole %t: %d bytes, want %d", c.limit, c.whole, section.Size(), c.want)
		}
		section.Release()
	}
}

// Whoever appends side by side gets different offsets, and each record is where its ticket says.
func manyAppenders(s *scene) {
	const writers, each = 8, 20
	s.config.SegmentBytes = 2000
	p := s.take()
	var tasks sync.WaitGroup
	results := make([][]storage.AppendResult, writers)
	for writer := range writers {
		tasks.Go(func() {
			for i := range each {
				ticket, err := p.Append(Records(s, fmt.Sprint(writer, ".", i), 1, 1), storage.AppendOptions{})
				if err == nil {
					err = ticket.WaitDurable(s.Context())
				}
				if err != nil {
					s.Error(err)
					return
				}
				results[writer] = append(results[writer], ticket.Result())
			}
		})
	}
	tasks.Wait()
	values := Values(s, p, 0)
	if len(values) != writers*each {
		s.Fatalf("%d records, want %d", len(values), writers*each)
	}
	for writer, list := range results {
		for i, result := range list {
			if want := fmt.Sprint(writer, ".", i, "-0"); values[result.BaseOffset] != want {
				s.Errorf("offset %d holds %s, want %s", result.BaseOffset, values[result.BaseOffset], want)
			}
		}
	}
}
