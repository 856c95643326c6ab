package storagetest

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

func timestampTests() []test {
	tests := []test{
		{name: "of the log's clock", run: func(s *scene) {
			s.config.AppendTime = true
			p := s.take()
			first := Append(s, p, Stamped(s, 7, 8, 9))
			if found := s.lookUp(p, 10); found.Offset != 0 || found.Timestamp != first.AppendTime || first.AppendTime < 10 {
				s.Fatalf("%+v, appended at %d", found, first.AppendTime)
			}
			if found := s.lookUp(p, first.AppendTime+1); found.Offset != -1 {
				s.Fatalf("%+v", found)
			}
		}},
		{name: "none in an empty log", run: func(s *scene) {
			p := s.take()
			if found := s.lookUp(p, 0); found.Offset != -1 {
				s.Fatalf("%+v", found)
			}
			s.largest(p, 0, -1, -1)
		}},
		{name: "markers have none", run: func(s *scene) {
			p := s.take()
			Append(s, p, Stamped(s, 50))
			marker, err := batch.NewMarkerBatch(batch.Marker{Commit: true}, 1, 0, 900)
			s.ok(err)
			Append(s, p, marker)
			s.largest(p, 2, 0, 50)
		}},
	}
	for _, segment := range []int64{1, 200, 1 << 20} {
		for _, interval := range []int{0, 100, 4096} {
			tests = append(tests, test{name: fmt.Sprintf("segments of %d bytes, index every %d", segment, interval), run: func(s *scene) {
				s.config.SegmentBytes, s.config.IndexInterval = segment, interval
				s.lookUps()
			}})
		}
	}
	return tests
}

func (s *scene) lookUp(p *storage.Partition, ms int64) storage.TimestampOffset {
	s.Helper()
	found, err := p.OffsetForTimestamp(context.Background(), ms, p.Offsets().HighWatermark)
	s.ok(err)
	return found
}

func (s *scene) largest(p *storage.Partition, limit, offset, timestamp int64) {
	s.Helper()
	found, err := p.MaxTimestampOffset(context.Background(), limit)
	if err != nil || found.Offset != offset || found.Timestamp != timestamp {
		s.Fatalf("largest below %d: %+v, %v", limit, found, err)
	}
}

// lookUps asks from memory, from one's own copy, and from index files.
func (s *scene) lookUps() {
	s.Helper()
	p := s.take()
	for _, timestamps := range [][]int64{{100, 110, 120}, {90, 95}, {120, 120, 130}, {500}, {200, 210}, {500, 600}} { // offsets 0-2, 3-4, 5-7, 8, 9-10, 11-12
		Append(s, p, Stamped(s, timestamps...))
	}
	cases := []struct {
		name              string
		ms, offset, found int64
	}{
		{"before all", 0, 0, 100},
		{"exact", 110, 1, 110},
		{"between records of a batch", 101, 1, 110},
		{"duplicates give the first", 120, 2, 120},
		{"in a later batch", 121, 7, 130},
		{"largest twice gives the first", 500, 8, 500},
		{"behind an earlier larger one", 200, 8, 500},
		{"last record", 600, 12, 600},
		{"after all", 601, -1, -1},
	}
	for round := range 3 {
		for _, c := range cases {
			if found := s.lookUp(p, c.ms); found.Offset != c.offset || found.Timestamp != c.found {
				s.Errorf("round %d, %s: %d: %+v, want offset %d of %d", round, c.name, c.ms, found, c.offset, c.found)
			}
		}
		s.largest(p, 13, 12, 600)
		s.largest(p, 11, 8, 500) // as if 11 and 12 were in an open transaction
		if round == 1 {
			p = s.handedOver(p)
		} else {
			p = s.again(p)
		}
	}
	_, err := p.DeleteRecords(context.Background(), 9)
	s.ok(err)
	for ms, offset := range map[int64]int64{0: 9, 120: 9, 205: 10, 211: 11, 600: 12, 601: -1} {
		if found := s.lookUp(p, ms); found.Offset != offset {
			s.Errorf("%d behind a deleted prefix: %+v, want offset %d", ms, found, offset)
		}
	}
}
