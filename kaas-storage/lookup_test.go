package storage_test

import (
	"context"
	"strings"
	"testing"

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
