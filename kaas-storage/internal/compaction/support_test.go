package compaction_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// entry describes one batch. Records are words key=value; key alone is a deletion, =value has no key, ”=value an empty one. Record n has timestamp 1000+n, n being its offset.
type entry struct {
	records    string
	commit     int64 // producer id of a marker
	abort      int64
	producer   int64 // of data; 0 = none
	epoch      int16
	txn        bool
	codec      batch.Compression
	appendTime bool
	last       int32 // last offset delta, when above that of the records
	spoil      func(batch.Batch)
}

const appended = 5000 // timestamp of batches with LogAppendTime

// lay builds batches at offsets from first on.
func lay(t testing.TB, first int64, entries ...entry) []batch.Batch {
	t.Helper()
	var log []batch.Batch
	for _, e := range entries {
		b := e.build(t, first)
		log = append(log, b)
		first = b.LastOffset() + 1
	}
	return log
}

func (e entry) build(t testing.TB, at int64) batch.Batch {
	t.Helper()
	if id := e.commit + e.abort; id > 0 {
		b, err := batch.NewMarkerBatch(batch.Marker{Commit: e.commit > 0}, id, e.epoch, 1000+at)
		if err != nil {
			t.Fatal(err)
		}
		b.SetBaseOffset(at)
		return e.spoiled(b)
	}
	builder := batch.NewBuilder()
	builder.BaseOffset, builder.LeaderEpoch, builder.Compression, builder.AppendTime = at, 4, e.codec, e.appendTime
	if e.producer > 0 {
		builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = e.producer, e.epoch, int32(at), e.txn
	}
	for i, word := range strings.Fields(e.records) {
		key, value, hasValue := strings.Cut(word, "=")
		k, v := []byte(key), []byte(value)
		switch key {
		case "":
			k = nil
		case "''":
			k = []byte{}
		}
		if !hasValue {
			v = nil
		}
		builder.Add(1000+at+int64(i), k, v, batch.Header{Key: "h"})
	}
	builder.ExtendTo(e.last)
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	if e.appendTime {
		b.StampAppendTime(appended)
	}
	return e.spoiled(b)
}

func (e entry) spoiled(b batch.Batch) batch.Batch {
	if e.spoil != nil {
		e.spoil(b)
	}
	return b
}

// show writes a batch as offsets, what is special, and its records.
func show(t testing.TB, b batch.Batch) string {
	t.Helper()
	var words []string
	if b.Control() {
		words = append(words, "control")
	}
	if horizon, has := b.DeleteHorizon(); has {
		words = append(words, fmt.Sprintf("horizon:%d", horizon))
	}
	for record, err := range b.Records(nil, batch.SiteTool, 0) {
		if err != nil {
			return fmt.Sprintf("%d-%d unreadable", b.BaseOffset(), b.LastOffset())
		}
		if b.Control() {
			continue
		}
		offset := b.BaseOffset() + int64(record.OffsetDelta)
		word := fmt.Sprintf("%d:%s", offset, record.Key)
		if record.Value != nil {
			word += "=" + string(record.Value)
		}
		if ts := b.BaseTimestamp() + record.TimestampDelta; ts != 1000+offset && !b.AppendTime() || len(record.Headers) != 1 {
			t.Errorf("offset %d has timestamp %d and headers %v", offset, ts, record.Headers)
		}
		words = append(words, word)
	}
	if b.Count() == 0 {
		words = append(words, "empty")
	}
	return fmt.Sprintf("%d-%d %s", b.BaseOffset(), b.LastOffset(), strings.Join(words, " "))
}

// outcome is one compaction of a log.
type outcome struct {
	plan    *compaction.Plan
	log     []batch.Batch
	fates   []compaction.Fate
	aborted []compaction.Aborted
}

// roomy is enough memory for every test that does not look for its end.
const roomy = 1 << 20

// compact surveys what is dirty and filters everything, as an engine does.
func compact(t testing.TB, log []batch.Batch, scope compaction.Scope) outcome {
	t.Helper()
	if scope.MapBytes == 0 {
		scope.MapBytes = roomy
	}
	out := outcome{plan: compaction.NewPlan(scope)}
	for _, b := range log {
		if b.LastOffset() < scope.FirstDirty || b.BaseOffset() >= scope.End {
			continue
		}
		full, err := out.plan.Survey(b)
		if err != nil {
			t.Fatal(err)
		}
		if full {
			break
		}
	}
	for _, b := range log {
		before := string(b)
		result, err := out.plan.Filter(b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != before {
			t.Errorf("Filter changed the batch at offset %d", b.BaseOffset())
		}
		out.fates = append(out.fates, result.Fate)
		if result.Aborted != nil {
			out.aborted = append(out.aborted, *result.Aborted)
		}
		if result.Fate == compaction.Dropped {
			if result.Batch != nil {
				t.Errorf("dropped batch at offset %d has bytes", b.BaseOffset())
			}
			continue
		}
		sameSlot(t, b, result)
		out.log = append(out.log, result.Batch)
	}
	return out
}

// sameSlot compares what no compaction may change.
func sameSlot(t testing.TB, was batch.Batch, result compaction.Result) {
	t.Helper()
	got := result.Batch
	if result.Fate == compaction.Unchanged {
		if string(got) != string(was) {
			t.Errorf("unchanged batch at offset %d has other bytes", was.BaseOffset())
		}
		return
	}
	next, rest, err := batch.Next(got)
	if err != nil || len(rest) > 0 || !next.ValidCRC() {
		t.Errorf("batch at offset %d is not sound: %v, %d bytes behind", was.BaseOffset(), err, len(rest))
	}
	if got.BaseOffset() != was.BaseOffset() || got.LastOffset() != was.LastOffset() || got.LeaderEpoch() != was.LeaderEpoch() || got.ProducerID() != was.ProducerID() ||
		got.ProducerEpoch() != was.ProducerEpoch() || got.BaseSequence() != was.BaseSequence() || got.LastSequence() != was.LastSequence() ||
		got.Transactional() != was.Transactional() || got.Control() != was.Control() || got.AppendTime() != was.AppendTime() {
		t.Errorf("header changed from %x to %x", was[:batch.HeaderSize], got[:batch.HeaderSize])
	}
	if codec := got.Compression(); codec != was.Compression() && got.Count() > 0 {
		t.Errorf("batch at offset %d has codec %v, had %v", was.BaseOffset(), codec, was.Compression())
	}
}

func (o outcome) show(t testing.TB) []string {
	t.Helper()
	var lines []string
	for _, b := range o.log {
		lines = append(lines, show(t, b))
	}
	return lines
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
