package batch_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// fuzzLimit keeps bombs that the fuzzer builds small.
const fuzzLimit = 1 << 20

// seed adds every golden file.
func seed(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.bin"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

func FuzzNext(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for rest := b; ; {
			next, after, err := batch.Next(rest)
			if err != nil {
				if !errors.Is(err, batch.ErrTruncated) && !errors.Is(err, batch.ErrMagic) && !errors.Is(err, batch.ErrMalformed) {
					t.Fatalf("unexpected error %v", err)
				}
				return
			}
			if len(next) < batch.HeaderSize || len(next)+len(after) != len(rest) {
				t.Fatalf("%d bytes split into %d and %d", len(rest), len(next), len(after))
			}
			if next.LastOffsetDelta() < 0 || next.Count() < 0 {
				t.Fatalf("delta %d, count %d", next.LastOffsetDelta(), next.Count())
			}
			rest = after
		}
	})
}

func FuzzRecords(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		next, _, err := batch.Next(b)
		if err != nil {
			return
		}
		count, bytesSeen := int32(0), 0
		for record, err := range next.Records(nil, batch.SiteTool, fuzzLimit) {
			if err != nil {
				return
			}
			count++
			bytesSeen += len(record.Key) + len(record.Value)
		}
		if count != next.Count() || bytesSeen > max(fuzzLimit, len(b)) {
			t.Fatalf("%d of %d records, %d bytes", count, next.Count(), bytesSeen)
		}
	})
}

// FuzzMarker wants a marker that is read to be written and read again.
func FuzzMarker(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		next, _, err := batch.Next(b)
		if err != nil || next.Compression() != batch.None {
			return
		}
		marker, is, err := next.Marker(nil)
		if err != nil && !errors.Is(err, batch.ErrMalformed) {
			t.Fatalf("unexpected error %v", err)
		}
		if !is {
			return
		}
		written, err := batch.NewMarkerBatch(marker, next.ProducerID(), next.ProducerEpoch(), next.MaxTimestamp())
		if err != nil {
			t.Fatal(err)
		}
		if again, is, err := written.Marker(nil); err != nil || !is || again != marker {
			t.Fatalf("%+v became %+v, %v, %v", marker, again, is, err)
		}
	})
}

// FuzzRemainder wants a rebuilt batch to hold the records that the batch yields.
func FuzzRemainder(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		next, _, err := batch.Next(b)
		if err != nil {
			return
		}
		sameSlot(t, next.Emptied(nil), next)
		var reader batch.RecordReader
		if reader.Reset(next, nil, batch.SiteTool, fuzzLimit) != nil {
			return
		}
		var records []byte
		var want []batch.Record
		const moved = 1 << 40
		for reader.Next() {
			records = reader.AppendRecord(records, reader.Record().TimestampDelta-moved)
			want = append(want, reader.Record())
		}
		if reader.Err() != nil {
			return
		}
		got, err := next.WithRemainder(nil, batch.Remainder{Records: records, Count: int32(len(want)), BaseTimestamp: next.BaseTimestamp() + moved}, nil, batch.SiteTool)
		if err != nil {
			t.Fatal(err)
		}
		sameSlot(t, got, next)
		for i, record := range collect(t, got) {
			if record.OffsetDelta != want[i].OffsetDelta || record.TimestampDelta+moved != want[i].TimestampDelta ||
				!bytes.Equal(record.Key, want[i].Key) || !bytes.Equal(record.Value, want[i].Value) || (record.Value == nil) != (want[i].Value == nil) {
				t.Fatalf("record %d: %+v, want %+v", i, record, want[i])
			}
		}
	})
}

func FuzzValidate(f *testing.F) {
	seed(f)
	rules := []batch.Rules{batch.DefaultRules(), batch.DefaultRules(), batch.DefaultRules()}
	rules[1].Version, rules[1].Compacted, rules[1].MaxBefore = 2, true, 1000
	rules[2].Compression, rules[2].AppendTime = batch.Lz4, true
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, r := range rules {
			r.MaxDecompressed = fuzzLimit
			checkValidated(t, b, r)
			checkValidated(t, repaired(b), r)
		}
	})
}

func FuzzUpConvert(f *testing.F) {
	seed(f)
	rules := batch.DefaultRules()
	rules.Version, rules.MaxDecompressed = 0, fuzzLimit
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 16 && b[16] < 2 {
			checkValidated(t, b, rules)
			checkValidated(t, repaired(b), rules)
		}
	})
}

// repaired returns b as one batch or message with fitting length and CRC, which the fuzzer would not find.
func repaired(b []byte) []byte {
	if len(b) < batch.HeaderSize {
		return b
	}
	fixed := bytes.Clone(b)
	binary.BigEndian.PutUint32(fixed[8:], uint32(len(fixed)-12))
	if fixed[16] == 2 {
		return edited(fixed)
	}
	binary.BigEndian.PutUint32(fixed[12:], crc32.ChecksumIEEE(fixed[16:]))
	return fixed
}

// checkValidated wants a rejection, or a batch that passes again unchanged and can be converted down.
func checkValidated(t *testing.T, b []byte, r batch.Rules) {
	t.Helper()
	got, err := batch.Validate(bytes.Clone(b), r, nil)
	if err != nil {
		var rejected *batch.RejectedError
		if !errors.As(err, &rejected) || rejected.Reason == nil {
			t.Fatalf("not a rejection: %v", err)
		}
		return
	}
	if !got.ValidCRC() || got.Count() <= 0 || got.LastOffset() != int64(got.Count())-1 || got.Control() {
		t.Fatalf("took %x", []byte(got))
	}
	r.Version = 9
	again, err := batch.Validate(bytes.Clone(got), r, nil)
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("second validation: %v\n%x\n%x", err, []byte(got), []byte(again))
	}
	if _, err := batch.DownConvert(got, 1, nil); err != nil && r.Compacted && got.Compression() != batch.Zstd {
		t.Fatalf("decoded records do not convert: %v", err)
	}
}

func FuzzDownConvert(f *testing.F) {
	seed(f)
	rules := batch.DefaultRules()
	rules.Version = 2
	f.Fuzz(func(t *testing.T, b []byte) {
		next, _, err := batch.Next(b)
		if err != nil {
			return
		}
		for magic := range int8(2) {
			set, err := batch.DownConvert(next, magic, nil)
			if err != nil || len(set) == 0 {
				continue
			}
			up, err := batch.Validate(set, rules, nil)
			if err != nil {
				continue // a log holds offsets and timestamps that are refused here only where nobody looked into the batch
			}
			if up.Count() != next.Count() {
				t.Fatalf("%d of %d records came back", up.Count(), next.Count())
			}
		}
	})
}
