package batch_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// full has every header field set to something.
func full(t testing.TB, codec batch.Compression) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.BaseOffset, builder.LeaderEpoch, builder.Compression = 70, 5, codec
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = 9, 3, 40, true
	for i := range 10 {
		builder.Add(1000+int64(i), fmt.Appendf(nil, "k%d", i), bytes.Repeat([]byte{'v'}, 50), batch.Header{Key: "h", Value: []byte("1")})
	}
	builder.ExtendTo(12)
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sameSlot compares everything that a compaction must not change.
func sameSlot(t testing.TB, got, want batch.Batch) {
	t.Helper()
	if got.BaseOffset() != want.BaseOffset() || got.LastOffset() != want.LastOffset() || got.LeaderEpoch() != want.LeaderEpoch() ||
		got.ProducerID() != want.ProducerID() || got.ProducerEpoch() != want.ProducerEpoch() || got.BaseSequence() != want.BaseSequence() ||
		got.LastSequence() != want.LastSequence() || got.Transactional() != want.Transactional() || got.Control() != want.Control() || got.AppendTime() != want.AppendTime() {
		t.Errorf("got %x\nwant the header of %x", got[:batch.HeaderSize], want[:batch.HeaderSize])
	}
	next, rest, err := batch.Next(got)
	if err != nil || len(rest) != 0 || !next.ValidCRC() {
		t.Errorf("not one sound batch: %v, %d bytes behind, CRC valid %v", err, len(rest), next.ValidCRC())
	}
}

func TestRemainder(t *testing.T) {
	var reader batch.RecordReader
	var dst []byte
	for _, codec := range codecs {
		for _, horizon := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v horizon %v", codec, horizon), func(t *testing.T) {
				b := full(t, codec)
				before := bytes.Clone(b)
				var wires batch.Tripwires
				if err := reader.Reset(b, &wires, batch.SiteCompaction, 0); err != nil {
					t.Fatal(err)
				}
				base := int64(1003)
				if horizon {
					base = 99_000
				}
				var records []byte
				for reader.Next() {
					if delta := reader.Record().OffsetDelta; delta == 3 || delta == 7 {
						records = reader.AppendRecord(records, b.BaseTimestamp()+reader.Record().TimestampDelta-base)
					}
				}
				if reader.Err() != nil {
					t.Fatal(reader.Err())
				}
				got, err := b.WithRemainder(dst, batch.Remainder{Records: records, Count: 2, BaseTimestamp: base, DeleteHorizon: horizon, MaxTimestamp: 1007}, &wires, batch.SiteCompaction)
				if err != nil {
					t.Fatal(err)
				}
				dst = got[:0]
				sameSlot(t, got, b)
				if ms, ok := got.DeleteHorizon(); ok != horizon || ms != base {
					t.Errorf("horizon %d, %v", ms, ok)
				}
				if got.Compression() != codec || got.MaxTimestamp() != 1007 || !bytes.Equal(b, before) {
					t.Errorf("codec %v, max timestamp %d, source changed %v", got.Compression(), got.MaxTimestamp(), !bytes.Equal(b, before))
				}
				left := collect(t, got)
				if len(left) != 2 || left[0].OffsetDelta != 3 || left[1].OffsetDelta != 7 || string(left[1].Key) != "k7" ||
					got.BaseTimestamp()+left[1].TimestampDelta != 1007 || len(left[1].Headers) != 1 {
					t.Errorf("records %+v", left)
				}
				if counts := wires.Snapshot()[batch.SiteCompaction]; counts != (batch.Counts{Decoded: 1, Reencoded: 1}) {
					t.Errorf("tripwires %+v", counts)
				}
			})
		}
	}
}

func TestRemainderErrors(t *testing.T) {
	b := edited(full(t, batch.None), set16(21, 5))
	if got, err := b.WithRemainder(nil, batch.Remainder{}, nil, batch.SiteCompaction); !errors.Is(err, batch.ErrUnsupportedCompression) || got != nil {
		t.Errorf("unknown codec: %x, %v", got, err)
	}
}

func TestEmptied(t *testing.T) {
	for _, codec := range codecs {
		b := full(t, codec)
		got := b.Emptied(make([]byte, 7, 100))
		sameSlot(t, got, b)
		_, horizon := got.DeleteHorizon()
		if len(got) != batch.HeaderSize || got.Count() != 0 || got.Compression() != batch.None || got.BaseTimestamp() != batch.NoTimestamp ||
			got.MaxTimestamp() != b.MaxTimestamp() || horizon {
			t.Errorf("%v: %x", codec, got)
		}
		if records := collect(t, got); len(records) != 0 {
			t.Errorf("%v: records %v", codec, records)
		}
		if again := got.Emptied(nil); !bytes.Equal(again, got) {
			t.Errorf("%v: emptied again: %x", codec, again)
		}
	}
}

func TestRecordReader(t *testing.T) {
	var reader batch.RecordReader
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			for _, count := range []int{3, 1000, 1} {
				b := build(t, codec, count)
				if err := reader.Reset(b, nil, batch.SiteCompaction, 0); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					seen := 0
					for reader.Next() {
						if want := fmt.Sprintf("key-%d", seen); string(reader.Record().Key) != want || reader.Record().Headers != nil {
							t.Fatalf("record %d: %+v", seen, reader.Record())
						}
						seen++
					}
					if seen != count || reader.Err() != nil {
						t.Fatalf("%d of %d records, %v", seen, count, reader.Err())
					}
					reader.Rewind()
				}
			}
		})
	}
}

func TestRecordReaderErrors(t *testing.T) {
	var reader batch.RecordReader
	good := build(t, batch.None, 3)
	if err := reader.Reset(edited(bytes.Clone(good), set32(57, 4)), nil, batch.SiteTool, 0); err != nil {
		t.Fatal(err)
	}
	for reader.Next() {
	}
	if !errors.Is(reader.Err(), batch.ErrMalformed) {
		t.Errorf("one record missing: %v", reader.Err())
	}
	if err := reader.Reset(build(t, batch.Zstd, 100), nil, batch.SiteTool, 100); !errors.Is(err, batch.ErrDecompressedSize) {
		t.Errorf("above the limit: %v", err)
	}
	if reader.Next() || reader.Err() != nil {
		t.Error("a reader without batch has records")
	}
	if err := reader.Reset(good, nil, batch.SiteTool, 0); err != nil || !reader.Next() {
		t.Errorf("after errors: %v", err)
	}
}

func TestRecordReaderAllocatesNothingForARecord(t *testing.T) {
	for _, codec := range []batch.Compression{batch.None, batch.Snappy, batch.Zstd} {
		b := build(t, codec, 100)
		var reader batch.RecordReader
		allocs := testing.AllocsPerRun(20, func() {
			if err := reader.Reset(b, nil, batch.SiteTool, 0); err != nil {
				t.Fatal(err)
			}
			for reader.Next() {
			}
		})
		if allocs > 20 { // the zstd library's options, and with the race detector what its pools forget
			t.Errorf("%v: %v allocations for 100 records", codec, allocs)
		}
	}
}
