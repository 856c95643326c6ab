package storage_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

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

// tall is a batch whose header promises a record of the year 292278994.
func tall(t *testing.T, timestamps ...int64) batch.Batch {
	t.Helper()
	b := stamped(t, timestamps...)
	binary.BigEndian.PutUint64(b[35:], math.MaxInt64)
	resum(b)
	return b
}

// resum puts the checksum right.
func resum(b batch.Batch) {
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// What producers send as the largest timestamp is taken at their word when it is stored: a lookup that went on to the next batch where it is wrong would
// decompress all of a log.
func TestLookupDecodesOneBatchWhateverTheHeadersSay(t *testing.T) {
	tripwires := new(batch.Tripwires)
	p := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1, Tripwires: tripwires}).take()
	appendDurable(t, p, stamped(t, 50, 60))
	for range 10 {
		appendDurable(t, p, tall(t, 70, 80))
	}
	want := storage.TimestampOffset{Offset: 2, Timestamp: math.MaxInt64, LeaderEpoch: 1}
	if found := lookUp(t, p, 1000); found != want {
		t.Errorf("found %+v, want %+v", found, want)
	}
	newest, err := p.MaxTimestampOffset(t.Context(), p.Offsets().HighWatermark)
	must(t, err)
	if newest != want {
		t.Errorf("the largest is %+v, want %+v", newest, want)
	}
	if decodes := tripwires.Snapshot()[batch.SiteTimestampLookup].Decoded; decodes != 2 {
		t.Errorf("%d batches were decoded for two questions", decodes)
	}
	if found := lookUp(t, p, 75); found.Offset != 3 || found.Timestamp != 80 {
		t.Errorf("a record that is there: %+v", found)
	}
	if _, err := p.DeleteRecords(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if found := lookUp(t, p, 1000); found.Offset != 4 {
		t.Errorf("behind a batch whose first record has gone: %+v", found)
	}
}

// What nobody can decode because its producer has sent it so is found as a whole, and keeps nobody from what lies behind.
func TestLookupOfABatchThatNobodyCanDecode(t *testing.T) {
	p := newBench(t, newFaulty(16<<20), storage.Options{RetentionInterval: -1}).take()
	garbage := stamped(t, 50, 60)
	for i := batch.HeaderSize; i < len(garbage); i++ {
		garbage[i] = 0xff
	}
	resum(garbage)
	appendDurable(t, p, garbage)
	if found := lookUp(t, p, 60); found.Offset != 0 || found.Timestamp != 60 {
		t.Errorf("found %+v", found)
	}
}

// Whoever asks and leaves does not make room for another search before his own has ended: each may hold a batch of 128 MiB.
func TestSearchesOfThoseWhoHaveLeftCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		p := newBench(t, f, storage.Options{RetentionInterval: -1}).take()
		appendDurable(t, p, stamped(t, 50, 60))
		release := make(chan struct{})
		var searching atomic.Int32
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpReadAt && !op.After {
				searching.Add(1)
				<-release
			}
			return nil
		})
		ctx, leave := context.WithCancel(t.Context())
		ask := func() {
			if _, err := p.OffsetForTimestamp(ctx, 1, p.Offsets().HighWatermark); !errors.Is(err, context.Canceled) {
				t.Errorf("asked in vain: %v", err)
			}
		}
		for range 20 {
			go ask()
		}
		synctest.Wait()
		most := searching.Load()
		leave()
		synctest.Wait()
		answered := make(chan storage.TimestampOffset)
		go func() { answered <- lookUp(t, p, 1) }()
		synctest.Wait()
		if now := searching.Load(); now != most || most >= 20 {
			t.Errorf("%d searches of those who have left, and then %d in all", most, now)
		}
		close(release)
		if found := <-answered; found.Offset != 0 {
			t.Errorf("found %+v", found)
		}
	})
}
