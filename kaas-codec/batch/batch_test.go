package batch_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// edited returns a copy of b with a field changed and the CRC made to fit.
func edited(b batch.Batch, edits ...func([]byte)) batch.Batch {
	changed := batch.Batch(bytes.Clone(b))
	for _, edit := range edits {
		edit(changed)
	}
	binary.BigEndian.PutUint32(changed[17:], crc32.Checksum(changed[21:], crc32.MakeTable(crc32.Castagnoli)))
	return changed
}

func set8(at int, value int8) func([]byte) { return func(b []byte) { b[at] = byte(value) } }

func set16(at int, value int16) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint16(b[at:], uint16(value)) }
}

func set32(at int, value int32) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint32(b[at:], uint32(value)) }
}

func set64(at int, value int64) func([]byte) {
	return func(b []byte) { binary.BigEndian.PutUint64(b[at:], uint64(value)) }
}

func TestHeaderFields(t *testing.T) {
	builder := batch.NewBuilder()
	builder.BaseOffset = 1 << 40
	builder.LeaderEpoch = 12
	builder.Transactional = true
	builder.ProducerID = 1 << 50
	builder.ProducerEpoch = 7
	builder.BaseSequence = 100
	builder.Add(1000, []byte("a"), nil)
	builder.Add(3000, []byte("b"), nil)
	builder.Add(2000, []byte("c"), nil)
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		b.BaseOffset(), b.LastOffset(), b.LastOffsetDelta(), b.LeaderEpoch(), b.BaseTimestamp(), b.MaxTimestamp(),
		b.ProducerID(), b.ProducerEpoch(), b.BaseSequence(), b.LastSequence(), b.Count(), b.Attributes(),
		b.Compression(), b.AppendTime(), b.Transactional(), b.Control(), b.ValidCRC(),
	}
	want := []any{
		int64(1 << 40), int64(1<<40 + 2), int32(2), int32(12), int64(1000), int64(3000),
		int64(1 << 50), int16(7), int32(100), int32(102), int32(3), int16(0x10),
		batch.None, false, true, false, true,
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("field %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestLastSequence(t *testing.T) {
	cases := []struct {
		name              string
		base, delta, want int32
	}{
		{"no producer", -1, 9, -1},
		{"plain", 5, 9, 14},
		{"up to the end", math.MaxInt32 - 1, 1, math.MaxInt32},
		{"wraps to zero", math.MaxInt32, 1, 0},
		{"wraps over zero", math.MaxInt32 - 2, 5, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := edited(build(t, batch.None, 1), set32(53, c.base), set32(23, c.delta))
			if got := b.LastSequence(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestSettersOutsideTheCRC(t *testing.T) {
	b := build(t, batch.Gzip, 3)
	crc := b.CRC()
	b.SetBaseOffset(1 << 33)
	b.SetLeaderEpoch(99)
	if b.BaseOffset() != 1<<33 || b.LeaderEpoch() != 99 || b.CRC() != crc || !b.ValidCRC() {
		t.Errorf("offset %d, epoch %d, CRC %08x of %08x", b.BaseOffset(), b.LeaderEpoch(), b.CRC(), crc)
	}
}

func TestStamps(t *testing.T) {
	b := build(t, batch.Lz4, 3)
	base := b.BaseTimestamp()
	b.StampAppendTime(123456)
	if !b.AppendTime() || b.MaxTimestamp() != 123456 || b.BaseTimestamp() != base || b.Compression() != batch.Lz4 || !b.ValidCRC() {
		t.Errorf("append time: %v, %d, base %d, valid %v", b.AppendTime(), b.MaxTimestamp(), b.BaseTimestamp(), b.ValidCRC())
	}
	b.SetMaxTimestamp(77)
	if b.AppendTime() || b.MaxTimestamp() != 77 || b.Compression() != batch.Lz4 || !b.ValidCRC() {
		t.Errorf("create time: %v, %d, valid %v", b.AppendTime(), b.MaxTimestamp(), b.ValidCRC())
	}
}

func TestValidCRCNoticesEveryByteItCovers(t *testing.T) {
	b := build(t, batch.None, 2)
	for at := 17; at < len(b); at++ {
		b[at] ^= 0x40
		if b.ValidCRC() {
			t.Errorf("byte %d is not covered", at)
		}
		b[at] ^= 0x40
	}
}

func TestNext(t *testing.T) {
	one, two := build(t, batch.None, 1), build(t, batch.Zstd, 2)
	all := append(bytes.Clone(one), two...)
	first, rest, err := batch.Next(all)
	if err != nil || !bytes.Equal(first, one) || !bytes.Equal(rest, two) {
		t.Fatalf("first: %d and %d bytes, %v", len(first), len(rest), err)
	}
	if cap(first) != len(first) {
		t.Error("an append to the first batch would overwrite the second")
	}
	second, rest, err := batch.Next(rest)
	if err != nil || !bytes.Equal(second, two) || len(rest) != 0 {
		t.Fatalf("second: %d and %d bytes, %v", len(second), len(rest), err)
	}
}

func TestNextErrors(t *testing.T) {
	b := build(t, batch.None, 3)
	cases := []struct {
		name  string
		bytes []byte
		want  error
	}{
		{"empty", nil, batch.ErrTruncated},
		{"no magic", b[:16], batch.ErrTruncated},
		{"magic only", b[:17], batch.ErrTruncated},
		{"header only", b[:batch.HeaderSize], batch.ErrTruncated},
		{"last byte missing", b[:len(b)-1], batch.ErrTruncated},
		{"huge length", edited(b, set32(8, math.MaxInt32)), batch.ErrTruncated},
		{"magic 1", edited(b, set8(16, 1)), batch.ErrMagic},
		{"magic 3", edited(b, set8(16, 3)), batch.ErrMagic},
		{"magic -1", edited(b, set8(16, -1)), batch.ErrMagic},
		{"length below header", edited(b, set32(8, 48)), batch.ErrMalformed},
		{"negative length", edited(b, set32(8, -1)), batch.ErrMalformed},
		{"smallest length", edited(b, set32(8, math.MinInt32)), batch.ErrMalformed},
		{"negative count", edited(b, set32(57, -1)), batch.ErrMalformed},
		{"negative last offset delta", edited(b, set32(23, -1)), batch.ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, rest, err := batch.Next(c.bytes)
			if !errors.Is(err, c.want) || got != nil || rest != nil {
				t.Errorf("got %x, %x, %v, want %v", got, rest, err, c.want)
			}
		})
	}
}
