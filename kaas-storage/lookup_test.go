package storage_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// stamped builds a batch with a record for each timestamp.
func stamped(t testing.TB, timestamps ...int64) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	for _, at := range timestamps {
		builder.Add(at, nil, []byte("some value"))
	}
	b, err := builder.Build()
	must(t, err)
	return b
}

func lookUp(t *testing.T, p *storage.Partition, ms int64) storage.TimestampOffset {
	t.Helper()
	found, err := p.OffsetForTimestamp(context.Background(), ms, p.Offsets().HighWatermark)
	must(t, err)
	return found
}

func TestOffsetForTimestamp(t *testing.T) {
	log := [][]int64{{100, 110, 120}, {90, 95}, {120, 120, 130}, {500}, {200, 210}, {500, 600}} // offsets 0-2, 3-4, 5-7, 8, 9-10, 11-12
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
	for _, segment := range []int64{1, 200, 1 << 20} {
		for _, interval := range []int{0, 100, 4096} {
			b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
			b.config.SegmentBytes, b.config.IndexInterval = segment, interval
			p := b.take()
			for _, timestamps := range log {
				appendDurable(t, p, stamped(t, timestamps...))
			}
			for round := range 3 { // from memory, from one's own copy, from index files
				for _, c := range cases {
					t.Run(fmt.Sprintf("segments of %d, index every %d, round %d, %s", segment, interval, round, c.name), func(t *testing.T) {
						if found := lookUp(t, p, c.ms); found.Offset != c.offset || found.Timestamp != c.found {
							t.Fatalf("%d: %+v, want offset %d of %d", c.ms, found, c.offset, c.found)
						}
					})
				}
				largest, err := p.MaxTimestampOffset(context.Background(), 13)
				if err != nil || largest.Offset != 12 || largest.Timestamp != 600 {
					t.Fatalf("largest: %+v, %v", largest, err)
				}
				largest, err = p.MaxTimestampOffset(context.Background(), 11) // as if 11 and 12 were in an open transaction
				if err != nil || largest.Offset != 8 || largest.LeaderEpoch != 1 {
					t.Fatalf("largest below 11: %+v, %v", largest, err)
				}
				if round == 1 {
					must(t, p.Handover(context.Background()))
				} else {
					p.Abandon()
				}
				<-p.Closed()
				p = b.take()
			}
			_, err := p.DeleteRecords(context.Background(), 9)
			must(t, err)
			for ms, offset := range map[int64]int64{0: 9, 120: 9, 205: 10, 211: 11, 600: 12, 601: -1} {
				if found := lookUp(t, p, ms); found.Offset != offset {
					t.Fatalf("%d behind a deleted prefix: %+v, want offset %d", ms, found, offset)
				}
			}
		}
	}
}

func TestTimestampsOfTheLogsClock(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	b.config.AppendTime = true
	p := b.take()
	first := appendDurable(t, p, stamped(t, 7, 8, 9))
	if found := lookUp(t, p, 10); found.Offset != 0 || found.Timestamp != first.AppendTime || first.AppendTime < 10 {
		t.Fatalf("%+v, appended at %d", found, first.AppendTime)
	}
	if found := lookUp(t, p, first.AppendTime+1); found.Offset != -1 {
		t.Fatalf("%+v", found)
	}
}

func TestEmptyLogHasNoTimestamps(t *testing.T) {
	b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
	p := b.take()
	largest, err := p.MaxTimestampOffset(context.Background(), 0)
	if err != nil || largest.Offset != -1 || lookUp(t, p, 0).Offset != -1 {
		t.Fatalf("%+v, %v", largest, err)
	}
}

// A newer record that is appended while the recovery point moves must not keep the largest timestamp below the point out of the index.
func TestIndexEndsWithTheLargestTimestampBelowTheRecoveryPoint(t *testing.T) {
	f := newFaulty(16 << 20)
	b := newBench(t, f, storage.Options{RetentionInterval: -1})
	b.config.IndexInterval = 80
	p := b.take()
	appendDurable(t, p, stamped(t, 50, 50, 50, 50)) // larger than the interval: the next batch gets entries
	appendDurable(t, p, stamped(t, 60))
	appendDurable(t, p, stamped(t, 100)) // too near for entries of its own
	f.set(at(func(op vfs.Op) bool { return op.Kind == vfs.OpCreate && strings.HasSuffix(op.Name, ".index") }, func() {
		_, err := p.Append(stamped(t, 200), storage.AppendOptions{})
		must(t, err)
	}))
	_, err := p.DeleteRecords(context.Background(), 1)
	must(t, err)
	p.Abandon()
	<-p.Closed()
	p = b.take()
	if found := lookUp(t, p, 80); found.Offset != 5 || found.Timestamp != 100 {
		t.Fatalf("found %+v, want offset 5", found)
	}
}

func TestMarkersHaveNoTimestamps(t *testing.T) {
	b := newBench(t, vfs.NewMem(1<<20), storage.Options{})
	p := b.take()
	appendDurable(t, p, stamped(t, 50))
	marker, err := batch.NewMarkerBatch(batch.Marker{Commit: true}, 1, 0, 900)
	must(t, err)
	appendDurable(t, p, marker)
	largest, err := p.MaxTimestampOffset(context.Background(), 2)
	if err != nil || largest.Offset != 0 || largest.Timestamp != 50 {
		t.Fatalf("largest: %+v, %v", largest, err)
	}
}
