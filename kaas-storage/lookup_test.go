package storage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func lookUp(t *testing.T, p *storage.Partition, ms int64) storage.TimestampOffset {
	t.Helper()
	found, err := p.OffsetForTimestamp(context.Background(), ms, p.Offsets().HighWatermark)
	must(t, err)
	return found
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

// A batch that takes more memory than a lookup may have is found as a whole.
func TestLookupOfABatchThatIsTooLargeToLookInto(t *testing.T) {
	p := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1}).take()
	appendDurable(t, p, stamped(t, 50, 60))
	builder := batch.NewBuilder()
	builder.Compression = batch.Zstd
	zeros := make([]byte, int(batch.DefaultLimit)/2)
	for timestamp := int64(100); timestamp < 103; timestamp++ {
		builder.Add(timestamp, []byte("k"), zeros)
	}
	large, err := builder.Build()
	must(t, err)
	appendDurable(t, p, large)
	appendDurable(t, p, stamped(t, 200))
	for ms, want := range map[int64]storage.TimestampOffset{
		55:  {Offset: 1, Timestamp: 60, LeaderEpoch: 1},
		101: {Offset: 2, Timestamp: 102, LeaderEpoch: 1},
		103: {Offset: 5, Timestamp: 200, LeaderEpoch: 1},
	} {
		if found := lookUp(t, p, ms); found != want {
			t.Errorf("at %d: %+v, want %+v", ms, found, want)
		}
	}
	if _, err := p.DeleteRecords(context.Background(), 3); err != nil {
		t.Fatal(err)
	}
	if found := lookUp(t, p, 1); found.Offset != 3 || found.Timestamp != 102 {
		t.Errorf("behind the log start: %+v", found)
	}
}
