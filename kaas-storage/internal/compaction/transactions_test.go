package compaction_test

import (
	"slices"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// aborts is the index entry of a transaction; nobody here looks at its last stable offset.
func aborts(producer, first, last int64) compaction.Aborted {
	return compaction.Aborted{ProducerID: producer, FirstOffset: first, LastOffset: last, LastStable: last + 1}
}

// leaderChange makes a marker a control batch of a kind that ends no transaction.
func leaderChange(b batch.Batch) {
	b[batch.HeaderSize+8] = 2 // behind length, attributes, two deltas, key length and three bytes of the key
	b.SetMaxTimestamp(b.MaxTimestamp())
}

func TestTransactions(t *testing.T) {
	type scope = compaction.Scope
	type producers = map[int64]compaction.Producer
	type entries = []compaction.Aborted
	cases := []struct {
		name    string
		log     []entry
		scope   scope
		want    []string
		aborted entries
	}{
		{
			"aborted records go, their keys count for nothing, their marker stays with its entry",
			[]entry{{records: "a=1"}, {records: "a=2 b=1", producer: 7, txn: true}, {abort: 7}, {records: "c=1"}},
			scope{Aborted: entries{aborts(7, 1, 3)}},
			[]string{"0-0 0:a=1", "3-3 control", "4-4 4:c=1"},
			entries{aborts(7, 1, 3)},
		},
		{
			"committed records count, their marker stays with them",
			[]entry{{records: "a=1"}, {records: "a=2", producer: 7, txn: true}, {commit: 7}},
			scope{},
			[]string{"1-1 1:a=2", "2-2 control"},
			nil,
		},
		{
			"a commit whose records go in this compaction stays as it is",
			[]entry{{records: "a=1", producer: 7, txn: true}, {commit: 7}, {records: "a=2"}},
			scope{},
			[]string{"1-1 control", "2-2 2:a=2"},
			nil,
		},
		{
			"a marker without batches gets a horizon, that of an abort loses its entry",
			[]entry{{commit: 7}, {records: "a=1"}, {abort: 8}},
			scope{Aborted: entries{aborts(8, 1, 2)}, Now: 50, DeleteRetention: ms(10)},
			[]string{"0-0 control horizon:60", "1-1 1:a=1", "2-2 control horizon:60"},
			nil,
		},
		{
			"a marker after another without batches between them",
			[]entry{{records: "a=1", producer: 7, txn: true}, {commit: 7}, {commit: 7}},
			scope{DeleteRetention: ms(10)},
			[]string{"0-0 0:a=1", "1-1 control", "2-2 control horizon:10"},
			nil,
		},
		{
			"interleaved transactions",
			[]entry{
				{records: "a=1", producer: 7, txn: true},
				{records: "b=1", producer: 8, txn: true},
				{records: "c=1", producer: 7, txn: true},
				{abort: 7},
				{records: "d=1", producer: 8, txn: true},
				{records: "e=1", producer: 7, txn: true},
				{commit: 8},
				{commit: 7},
			},
			scope{Aborted: entries{aborts(7, 0, 3)}},
			[]string{"1-1 1:b=1", "3-3 control", "4-4 4:d=1", "5-5 5:e=1", "6-6 control", "7-7 control"},
			entries{aborts(7, 0, 3)},
		},
		{
			"two aborts of one producer, named in any order and twice",
			[]entry{
				{records: "a=1", producer: 7, txn: true},
				{abort: 7},
				{records: "b=1", producer: 7, txn: true},
				{abort: 7},
				{records: "c=1", producer: 7, txn: true},
				{commit: 7},
			},
			scope{Aborted: entries{aborts(7, 2, 3), aborts(7, 0, 1), aborts(7, 2, 3)}},
			[]string{"1-1 control", "3-3 control", "4-4 4:c=1", "5-5 control"},
			entries{aborts(7, 0, 1), aborts(7, 2, 3)},
		},
		{
			"a batch outside the transaction of its producer is no part of it",
			[]entry{{records: "a=1", producer: 7, txn: true}, {records: "b=1", producer: 7}, {abort: 7}},
			scope{Aborted: entries{aborts(7, 0, 2)}},
			[]string{"1-1 1:b=1", "2-2 control"},
			entries{aborts(7, 0, 2)},
		},
		{
			"the marker lies above the end, and so does some of the transaction",
			[]entry{{records: "a=1", producer: 7, txn: true}, {records: "b=1", producer: 7, txn: true}, {abort: 7}},
			scope{End: 1, Aborted: entries{aborts(7, 0, 2)}},
			[]string{"1-1 1:b=1", "2-2 control"},
			entries{aborts(7, 0, 2)},
		},
		{
			"a marker above the end keeps its entry, whatever is left",
			[]entry{{records: "a=1"}, {abort: 7}},
			scope{End: 1, Aborted: entries{aborts(7, 0, 1)}},
			[]string{"0-0 0:a=1", "1-1 control"},
			entries{aborts(7, 0, 1)},
		},
		{
			"the last batch of a producer stays without records, and its marker with it",
			[]entry{{records: "a=1", producer: 7, txn: true, codec: batch.Zstd}, {abort: 7}, {records: "b=1"}},
			scope{Aborted: entries{aborts(7, 0, 1)}, Producers: producers{7: {LastOffset: 0}}},
			[]string{"0-0 empty", "1-1 control", "2-2 2:b=1"},
			entries{aborts(7, 0, 1)},
		},
		{
			"control batches that end no transaction stay",
			[]entry{{commit: 7, spoil: leaderChange}, {records: "a=1"}},
			scope{},
			[]string{"0-0 control", "1-1 1:a=1"},
			nil,
		},
		{
			"an aborted batch goes without being read",
			[]entry{{records: "a=1", producer: 7, txn: true, spoil: unknownCodec}, {abort: 7}},
			scope{Aborted: entries{aborts(7, 0, 1)}},
			[]string{"1-1 control"},
			entries{aborts(7, 0, 1)},
		},
		{
			"a marker that cannot be read stays, with the entry that names it",
			[]entry{{records: "a=1", producer: 7, txn: true}, {abort: 7, spoil: corrupt}, {records: "b=1", producer: 7, txn: true}, {commit: 7}},
			scope{Aborted: entries{aborts(7, 0, 1)}},
			[]string{"1-1 unreadable", "2-2 2:b=1", "3-3 control"},
			entries{aborts(7, 0, 1)},
		},
		{
			"a transaction whose marker is missing ends with the next",
			[]entry{{records: "a=1", producer: 7, txn: true}, {records: "skipped=1"}, {records: "b=1", producer: 7, txn: true}, {commit: 7}},
			scope{Aborted: entries{aborts(7, 0, 1)}},
			[]string{"1-1 1:skipped=1", "2-2 2:b=1", "3-3 control"},
			nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.scope.End == 0 {
				c.scope.End = 99
			}
			got := compact(t, lay(t, 0, c.log...), c.scope)
			if lines := got.show(t); !slices.Equal(lines, c.want) || !slices.Equal(got.aborted, c.aborted) {
				t.Errorf("got  %q with entries %v\nwant %q with entries %v", lines, got.aborted, c.want, c.aborted)
			}
		})
	}
}

// What becomes of a transaction, compaction by compaction, as the records of its producer go on or end.
func TestMarkersGoLast(t *testing.T) {
	const retention = 100
	cases := []struct {
		name      string
		log       []entry
		aborted   []compaction.Aborted
		producers map[int64]compaction.Producer
		rounds    [][]string // at 0, 1, then at the horizon
	}{
		{
			"an abort",
			[]entry{{records: "a=1", producer: 7, txn: true}, {abort: 7}},
			[]compaction.Aborted{aborts(7, 0, 1)},
			nil,
			[][]string{{"1-1 control"}, {"1-1 control horizon:101"}, nil},
		},
		{
			"a commit",
			[]entry{{records: "a=1", producer: 7, txn: true}, {commit: 7}, {records: "a=2"}},
			nil, nil,
			[][]string{{"1-1 control", "2-2 2:a=2"}, {"1-1 control horizon:101", "2-2 2:a=2"}, {"2-2 2:a=2"}},
		},
		{
			"an abort of a producer that is remembered by its data",
			[]entry{{records: "a=1", producer: 7, txn: true}, {abort: 7}},
			[]compaction.Aborted{aborts(7, 0, 1)},
			map[int64]compaction.Producer{7: {LastOffset: 0}},
			[][]string{{"0-0 empty", "1-1 control"}, {"0-0 empty", "1-1 control"}, {"0-0 empty", "1-1 control"}},
		},
		{
			"a marker of a producer that is remembered by its epoch",
			[]entry{{abort: 7, epoch: 1}, {abort: 7, epoch: 2}},
			nil,
			map[int64]compaction.Producer{7: {LastOffset: -1, Epoch: 2}},
			[][]string{
				{"0-0 control horizon:100", "1-1 control horizon:100"},
				{"0-0 control horizon:100", "1-1 control horizon:100"},
				{"1-1 control empty"},
				{"1-1 control empty"},
			},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			log, aborted := lay(t, 0, c.log...), c.aborted
			for round, want := range c.rounds {
				now := int64(round)
				if round >= 2 {
					now = retention + 1
				}
				got := compact(t, log, compaction.Scope{End: 99, Now: now, DeleteRetention: ms(retention), Aborted: aborted, Producers: c.producers})
				if lines := got.show(t); !slices.Equal(lines, want) {
					t.Fatalf("round %d: got %q, want %q", round, lines, want)
				}
				log, aborted = got.log, got.aborted
			}
			if got := compact(t, log, compaction.Scope{End: 99, Now: 1000}); c.producers != nil && len(got.log) >= len(log) {
				t.Errorf("still %q when nobody remembers the producer", got.show(t))
			}
		})
	}
}
