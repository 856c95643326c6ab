package compaction_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

func corrupt(b batch.Batch)      { b[len(b)-1] ^= 1 }
func unknownCodec(b batch.Batch) { b[22] |= 7; b.SetMaxTimestamp(b.MaxTimestamp()) }

func TestFilter(t *testing.T) {
	const retention = 100
	type scope = compaction.Scope
	cases := []struct {
		name  string
		log   []entry
		scope scope
		want  []string
	}{
		{
			"the newest of a key stays",
			[]entry{{records: "a=1 b=1"}, {records: "a=2"}, {records: "c=1 a=3 c=2"}, {records: "d=1"}},
			scope{End: 99},
			[]string{"0-1 1:b=1", "3-5 4:a=3 5:c=2", "6-6 6:d=1"},
		},
		{
			"every codec",
			[]entry{{records: "a=1 b=1", codec: batch.Gzip}, {records: "a=2 c=1", codec: batch.Zstd}, {records: "a=3 d=1", codec: batch.Lz4}, {records: "a=4 d=2 e=1 e=2", codec: batch.Snappy}},
			scope{End: 99},
			[]string{"0-1 1:b=1", "2-3 3:c=1", "6-9 6:a=4 7:d=2 9:e=2"},
		},
		{
			"an empty key is a key",
			[]entry{{records: "''=1 a=1"}, {records: "''=2"}},
			scope{End: 99},
			[]string{"0-1 1:a=1", "2-2 2:=2"},
		},
		{
			"clean records go for dirty ones, clean keys are not compared",
			[]entry{{records: "a=1 a=2 b=1"}, {records: "b=2"}},
			scope{FirstDirty: 3, End: 99},
			[]string{"0-2 0:a=1 1:a=2", "3-3 3:b=2"},
		},
		{
			"a survey that begins inside a batch",
			[]entry{{records: "a=1 b=1 a=2"}, {records: "b=2"}},
			scope{FirstDirty: 2, End: 99},
			[]string{"0-2 2:a=2", "3-3 3:b=2"},
		},
		{
			"nothing at the end or above it is touched",
			[]entry{{records: "a=1"}, {records: "a=2"}, {records: "a=3 b b"}, {records: "=x"}},
			scope{End: 2},
			[]string{"1-1 1:a=2", "2-4 2:a=3 3:b 4:b", "5-5 5:=x"},
		},
		{
			"an end inside a batch",
			[]entry{{records: "a=1"}, {records: "b=1 a=2 =x"}},
			scope{End: 2},
			[]string{"0-0 0:a=1", "1-3 1:b=1 2:a=2 3:=x"},
		},
		{
			"a deletion gets its horizon first",
			[]entry{{records: "a=1 b=1"}, {records: "a"}},
			scope{End: 99, Now: 7000, DeleteRetention: ms(retention)},
			[]string{"0-1 1:b=1", "2-2 horizon:7100 2:a"},
		},
		{
			"a deletion among others, compressed",
			[]entry{{records: "a=1 b=1 a c=1 b=2", codec: batch.Zstd}},
			scope{End: 99, Now: 7000, DeleteRetention: ms(retention)},
			[]string{"0-4 horizon:7100 2:a 3:c=1 4:b=2"},
		},
		{
			"a deletion that was revoked goes at once",
			[]entry{{records: "a"}, {records: "a=1"}},
			scope{End: 99},
			[]string{"1-1 1:a=1"},
		},
		{
			"a record without key goes, as in Kafka",
			[]entry{{records: "=x a=1 =y"}, {records: "=z"}},
			scope{End: 99},
			[]string{"0-2 1:a=1"},
		},
		{
			"the last batch of a producer stays without its records",
			[]entry{{records: "a=1", producer: 7}, {records: "b=1", producer: 8, codec: batch.Gzip}, {records: "a=2 b=2"}},
			scope{End: 99, Producers: map[int64]compaction.Producer{7: {LastOffset: 0}, 8: {LastOffset: 1}}},
			[]string{"0-0 empty", "1-1 empty", "2-3 2:a=2 3:b=2"},
		},
		{
			"a batch that is not its producer's last goes",
			[]entry{{records: "a=1", producer: 7}, {records: "b=1", producer: 7}, {records: "a=2 b=2", producer: 9}},
			scope{End: 99, Producers: map[int64]compaction.Producer{7: {LastOffset: 1}}},
			[]string{"1-1 empty", "2-3 2:a=2 3:b=2"},
		},
		{
			"what cannot be read stays, and nothing goes on its account",
			[]entry{{records: "a=1 b=1 c=1"}, {records: "a=2", spoil: corrupt}, {records: "b=2", spoil: unknownCodec}, {records: "c=2"}},
			scope{End: 99},
			[]string{"0-2 0:a=1 1:b=1", "3-3 3:a=2", "4-4 unreadable", "5-5 5:c=2"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := compact(t, lay(t, 0, c.log...), c.scope)
			if lines := got.show(t); !slices.Equal(lines, c.want) {
				t.Errorf("got  %q\nwant %q", lines, c.want)
			}
		})
	}
}

func TestHorizon(t *testing.T) {
	scope := compaction.Scope{End: 99, Now: 7000, DeleteRetention: ms(100)}
	once := compact(t, lay(t, 0, entry{records: "x=1 a", codec: batch.Lz4}, entry{records: "b"}), scope)
	steps := []struct {
		name  string
		now   int64
		want  []string
		fates []compaction.Fate
	}{
		{"before it", 7099, []string{"0-1 horizon:7100 0:x=1 1:a", "2-2 horizon:7100 2:b"}, []compaction.Fate{compaction.Unchanged, compaction.Unchanged}},
		{"at it", 7100, []string{"0-1 horizon:7100 0:x=1"}, []compaction.Fate{compaction.Rebuilt, compaction.Dropped}},
		{"after it, what is not clean", 9000, []string{"0-1 horizon:7100 0:x=1"}, []compaction.Fate{compaction.Rebuilt, compaction.Dropped}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			scope.Now = step.now
			got := compact(t, once.log, scope)
			if lines := got.show(t); !slices.Equal(lines, step.want) || !slices.Equal(got.fates, step.fates) {
				t.Errorf("got %q, %v", lines, got.fates)
			}
		})
	}
}

func TestMaxTimestamp(t *testing.T) {
	log := lay(t, 0, entry{records: "a=1 b=1 c=1"}, entry{records: "d=1 e=1", appendTime: true}, entry{records: "c=2 e=2 f"})
	got := compact(t, log, compaction.Scope{End: 99, Now: 9_000_000})
	for i, want := range []int64{1001, appended, 1007} {
		if b := got.log[i]; b.MaxTimestamp() != want {
			t.Errorf("batch at offset %d has largest timestamp %d, want %d", b.BaseOffset(), b.MaxTimestamp(), want)
		}
	}
	if got.log[1].BaseTimestamp() != appended {
		t.Errorf("base timestamp %d, Kafka makes it the time of the first record", got.log[1].BaseTimestamp())
	}
}

// The bytes of a batch of which everything stays are the producer's, whatever encoder made them.
func TestUnchangedIsNotEncodedAnew(t *testing.T) {
	var wires batch.Tripwires
	log := lay(t, 0, entry{records: "a=1 b=1", codec: batch.Gzip}, entry{records: "c=1"})
	got := compact(t, log, compaction.Scope{End: 99, Tripwires: &wires})
	if &got.log[0][0] != &log[0][0] || &got.log[1][0] != &log[1][0] {
		t.Error("bytes were copied")
	}
	if counts := wires.Snapshot()[batch.SiteCompaction]; counts != (batch.Counts{Decoded: 4}) {
		t.Errorf("tripwires %+v", counts)
	}
}

func TestFullMapMakesProgress(t *testing.T) {
	log := lay(t, 0, entry{records: "a=1 b=1 a=2 c=1"}, entry{records: "b=2 c=2 a=3"})
	scope := compaction.Scope{End: 99, MapBytes: 3 * 24} // two keys
	first := compact(t, log, scope)
	if want := []string{"0-3 1:b=1 2:a=2 3:c=1", "4-6 4:b=2 5:c=2 6:a=3"}; !slices.Equal(first.show(t), want) || first.plan.NextDirty() != 3 {
		t.Fatalf("first: %q, next %d", first.show(t), first.plan.NextDirty())
	}
	scope.FirstDirty = 3
	second := compact(t, first.log, scope)
	if want := []string{"0-3 2:a=2", "4-6 4:b=2 5:c=2 6:a=3"}; !slices.Equal(second.show(t), want) || second.plan.NextDirty() != 6 {
		t.Errorf("second: %q, next %d", second.show(t), second.plan.NextDirty())
	}
	scope.FirstDirty = second.plan.NextDirty()
	third := compact(t, second.log, scope)
	if want := []string{"4-6 4:b=2 5:c=2 6:a=3"}; !slices.Equal(third.show(t), want) || third.plan.NextDirty() != 99 {
		t.Errorf("third: %q, next %d", third.show(t), third.plan.NextDirty())
	}
}

func TestStats(t *testing.T) {
	log := lay(t, 0, entry{records: "a=1 =x b=1"}, entry{records: "a=2"}, entry{records: "c=1", spoil: corrupt}, entry{records: "b=2 c=2"})
	got := compact(t, log, compaction.Scope{End: 99})
	stats := got.plan.Stats()
	var bytes int64
	for _, b := range log[1:] {
		bytes += int64(len(b))
	}
	if stats.Keys != 3 || stats.BatchesRead != 4 || stats.BatchesKept != 3 || stats.BytesRead != bytes+int64(len(log[0])) || stats.BytesKept != bytes ||
		stats.RecordsRead != 6 || stats.RecordsKept != 3 || stats.Keyless != 1 || stats.Unreadable != 1 || !errors.Is(stats.FirstUnreadable, batch.ErrCorrupt) {
		t.Errorf("%+v", stats)
	}
}

// A record that claims an offset behind its batch would be the newest of its key for ever.
func TestRecordOffsetsThatCannotBe(t *testing.T) {
	for name, deltas := range map[string][]int32{"ahead": {0, 5, 9}, "twice": {0, 1, 1}, "back": {2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			log := lay(t, 0, entry{records: "b=1 c=1 a=1"}, entry{records: "a=2 b=2"})
			log[0] = renumbered(log[0], deltas)
			got := compact(t, log, compaction.Scope{End: 99})
			if stats := got.plan.Stats(); len(got.log) != 2 || stats.Unreadable != 1 || stats.Keys != 2 || !errors.Is(stats.FirstUnreadable, batch.ErrMalformed) {
				t.Errorf("%d batches, %+v", len(got.log), stats)
			}
		})
	}
}

// renumbered gives the records of an uncompressed batch other offset deltas, of one digit, where they lie.
func renumbered(b batch.Batch, deltas []int32) batch.Batch {
	at := batch.HeaderSize
	for _, delta := range deltas {
		length := int(b[at] / 2)
		b[at+3] = byte(2 * delta) // behind length, attributes and timestamp delta
		at += 1 + length
	}
	b.SetMaxTimestamp(b.MaxTimestamp())
	return b
}

func TestOrder(t *testing.T) {
	log := lay(t, 0, entry{records: "a=1 b=1"}, entry{records: "a=2"})
	inside := lay(t, 1, entry{records: "c=1"})[0]
	far := lay(t, 1<<62, entry{records: "d=1"})[0]
	far.SetBaseOffset(1<<63 - 1)
	far[26] = 9
	for name, second := range map[string]batch.Batch{"again": log[0], "inside": inside, "behind the largest offset": far} {
		plan := compaction.NewPlan(compaction.Scope{End: 1 << 62, MapBytes: roomy})
		if _, err := plan.Survey(log[0]); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Filter(log[0], nil); err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Survey(second); !errors.Is(err, compaction.ErrOrder) {
			t.Errorf("%s, survey: %v", name, err)
		}
		if _, err := plan.Filter(second, nil); !errors.Is(err, compaction.ErrOrder) {
			t.Errorf("%s, filter: %v", name, err)
		}
	}
}

func TestResultUsesTheMemoryItIsGiven(t *testing.T) {
	log := lay(t, 0, entry{records: "a=1 b=1"}, entry{records: "a=2"})
	plan := compaction.NewPlan(compaction.Scope{End: 99, MapBytes: roomy})
	for _, b := range log {
		if _, err := plan.Survey(b); err != nil {
			t.Fatal(err)
		}
	}
	dst := make([]byte, 3, 1000)
	result, err := plan.Filter(log[0], dst)
	if err != nil || result.Fate != compaction.Rebuilt || &result.Batch[0] != &dst[0] {
		t.Errorf("%v, %v", result.Fate, err)
	}
}
