package batch_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy/xerial"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// withPayload returns a batch of count records whose record bytes, maybe compressed, are these.
func withPayload(t testing.TB, codec batch.Compression, count int32, payload []byte) batch.Batch {
	t.Helper()
	b := append(bytes.Clone(build(t, batch.None, 1)[:batch.HeaderSize]), payload...)
	return edited(b, set32(8, int32(len(b)-12)), set16(21, int16(codec)), set32(57, count), set32(23, count-1))
}

// firstError ranges over all records and returns their number and the error.
func firstError(b batch.Batch, limit batch.Limit) (int, error) {
	count := 0
	for _, err := range b.Records(nil, batch.SiteTool, limit) {
		if err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

func TestRecordsAreParsedStrictly(t *testing.T) {
	// A record: length, attributes, timestamp delta, offset delta, key, value, header count.
	good := []byte{12, 0, 0, 0, 1, 1, 0}
	tooLong := bytes.Repeat([]byte{0x80}, 11)
	cases := []struct {
		name    string
		count   int32
		payload []byte
		records int
		ok      bool
	}{
		{"good", 1, good, 1, true},
		{"zero length", 1, []byte{0}, 0, false},
		{"negative length", 1, []byte{1}, 0, false},
		{"length beyond the batch", 1, []byte{14, 0, 0, 0, 1, 1, 0}, 0, false},
		{"length of 2 GiB", 1, binary.AppendVarint(nil, math.MaxInt32), 0, false},
		{"length above 32 bits", 1, binary.AppendVarint(nil, 1<<40), 0, false},
		{"length varint without end", 1, tooLong, 0, false},
		{"length too small for the parts", 1, []byte{10, 0, 0, 0, 1, 1, 0}, 0, false},
		{"bytes behind the headers", 1, []byte{14, 0, 0, 0, 1, 1, 0, 9}, 0, false},
		{"key length below -1", 1, []byte{12, 0, 0, 0, 3, 1, 0}, 0, false},
		{"key beyond the record", 1, []byte{12, 0, 0, 0, 100, 1, 0}, 0, false},
		{"value beyond the record", 1, []byte{12, 0, 0, 0, 1, 100, 0}, 0, false},
		{"negative header count", 1, []byte{12, 0, 0, 0, 1, 1, 1}, 0, false},
		{"header count without headers", 1, []byte{12, 0, 0, 0, 1, 1, 2}, 0, false},
		{"header count of 2 billion", 1, append([]byte{20, 0, 0, 0, 1, 1}, binary.AppendVarint(nil, math.MaxInt32)...), 0, false},
		{"null header key", 1, []byte{16, 0, 0, 0, 1, 1, 2, 1, 1}, 0, false},
		{"empty header", 1, []byte{16, 0, 0, 0, 1, 1, 2, 0, 1}, 1, true},
		{"timestamp without end", 1, append([]byte{28, 0}, bytes.Repeat([]byte{0xff}, 13)...), 0, false},
		{"second missing", 2, good, 1, false},
		{"one too many", 1, append(bytes.Clone(good), good...), 1, false},
		{"no records counted", 0, good, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			count, err := firstError(withPayload(t, batch.None, c.count, c.payload), 0)
			if count != c.records || (err == nil) != c.ok || err != nil && !errors.Is(err, batch.ErrMalformed) {
				t.Errorf("got %d records, %v", count, err)
			}
		})
	}
}

func TestRecordsStopEarly(t *testing.T) {
	b := build(t, batch.Zstd, 10)
	for range b.Records(nil, batch.SiteTool, 0) {
		break
	}
}

func TestRecordsOfRawSnappy(t *testing.T) {
	plain := build(t, batch.None, 50)
	raw := s2.EncodeSnappy(nil, plain[batch.HeaderSize:])
	got := collect(t, withPayload(t, batch.Snappy, 50, raw))
	if len(got) != 50 || string(got[49].Key) != "key-49" {
		t.Errorf("got %d records", len(got))
	}
}

func TestRecordsOfBrokenStreams(t *testing.T) {
	xerialStream := xerial.Encode(nil, bytes.Repeat([]byte("abc"), 100))
	claim := func(size uint64) []byte { return append(binary.AppendUvarint(nil, size), 0, 'x') }
	cases := []struct {
		name    string
		codec   batch.Compression
		payload []byte
		want    error
	}{
		{"unknown codec", 6, []byte{1}, batch.ErrUnsupportedCompression},
		{"gzip: empty", batch.Gzip, nil, batch.ErrMalformed},
		{"snappy: empty", batch.Snappy, nil, batch.ErrMalformed},
		{"zstd: empty", batch.Zstd, nil, batch.ErrMalformed},
		{"snappy: header cut", batch.Snappy, xerialStream[:12], batch.ErrMalformed},
		{"snappy: length cut", batch.Snappy, xerialStream[:18], batch.ErrMalformed},
		{"snappy: block cut", batch.Snappy, xerialStream[:len(xerialStream)-1], batch.ErrMalformed},
		{"snappy: bytes behind", batch.Snappy, append(bytes.Clone(xerialStream), 0, 0), batch.ErrMalformed},
		{"snappy: claims 4 GiB", batch.Snappy, claim(1<<32 - 1), batch.ErrMalformed},
		{"snappy: claims more than it can hold", batch.Snappy, claim(100000), batch.ErrMalformed},
		{"gzip: cut", batch.Gzip, build(t, batch.Gzip, 9)[batch.HeaderSize:80], batch.ErrMalformed},
		{"lz4: cut", batch.Lz4, build(t, batch.Lz4, 9)[batch.HeaderSize:80], batch.ErrMalformed},
		{"zstd: cut", batch.Zstd, build(t, batch.Zstd, 9)[batch.HeaderSize:80], batch.ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if count, err := firstError(withPayload(t, c.codec, 9, c.payload), 0); count != 0 || !errors.Is(err, c.want) {
				t.Errorf("got %d records, %v, want %v", count, err, c.want)
			}
		})
	}
	// The pooled decoders work again after every failure.
	for _, codec := range codecs {
		if records := collect(t, build(t, codec, 3)); len(records) != 3 {
			t.Errorf("%v: %d records", codec, len(records))
		}
	}
}

// bombs are 64 MiB of zeros in each codec, and a zstd frame that announces 128 MiB of window.
func bombs(t testing.TB) map[string]batch.Batch {
	t.Helper()
	zeros := make([]byte, 64<<20)
	var zipped, framed bytes.Buffer
	gzipWriter := gzip.NewWriter(&zipped)
	lz4Writer := lz4.NewWriter(&framed)
	for _, err := range []error{
		second(gzipWriter.Write(zeros)), gzipWriter.Close(), second(lz4Writer.Write(zeros)), lz4Writer.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	sized := encoder.EncodeAll(zeros, nil)
	var streamed bytes.Buffer
	encoder.Reset(&streamed)
	if err := errors.Join(second(encoder.Write(zeros)), encoder.Close()); err != nil {
		t.Fatal(err)
	}
	return map[string]batch.Batch{
		"gzip":              withPayload(t, batch.Gzip, 9, zipped.Bytes()),
		"snappy":            withPayload(t, batch.Snappy, 9, xerial.Encode(nil, zeros)),
		"lz4":               withPayload(t, batch.Lz4, 9, framed.Bytes()),
		"zstd with size":    withPayload(t, batch.Zstd, 9, sized),
		"zstd without size": withPayload(t, batch.Zstd, 9, streamed.Bytes()),
	}
}

func second[T any](_ T, err error) error { return err }

func TestBombsStopAtTheLimit(t *testing.T) {
	const limit = 1 << 20
	for name, b := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			spent := allocatedBytes(func() {
				if count, err := firstError(b, limit); count != 0 || !errors.Is(err, batch.ErrDecompressedSize) {
					t.Errorf("got %d records, %v", count, err)
				}
			})
			// Growing buffers add up, and zstd gets room for its usual window of 8 MiB. All 64 MiB would
			// take several times as much.
			if spent > 60<<20 {
				t.Errorf("allocated %d bytes", spent)
			}
			rules := func(r *batch.Rules) { r.Compacted, r.MaxBytes, r.MaxDecompressed = true, 1<<30, limit }
			validation{records: b, rules: rules, want: batch.ErrTooLarge}.run(t)
		})
	}
}

func TestLimitIsExact(t *testing.T) {
	for _, codec := range codecs[1:] {
		t.Run(codec.String(), func(t *testing.T) {
			size := len(build(t, batch.None, 100)) - batch.HeaderSize
			b := build(t, codec, 100)
			if count, err := firstError(b, batch.Limit(size)); count != 100 || err != nil {
				t.Errorf("at the limit: %d records, %v", count, err)
			}
			if _, err := firstError(b, batch.Limit(size-1)); !errors.Is(err, batch.ErrDecompressedSize) {
				t.Errorf("above the limit: %v", err)
			}
		})
	}
}

// A frame may announce a window of 128 MiB and hold a byte.
func TestClaimedZstdWindowCostsNothing(t *testing.T) {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x09, 0, 0, 'x'}
	b := withPayload(t, batch.Zstd, 9, frame)
	spent := allocatedBytes(func() {
		if _, err := firstError(b, 0); !errors.Is(err, batch.ErrMalformed) {
			t.Errorf("got %v", err)
		}
	})
	if spent > 8<<20 {
		t.Errorf("allocated %d bytes", spent)
	}
}

func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
