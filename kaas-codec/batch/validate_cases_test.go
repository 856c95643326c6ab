package batch_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Every answer below was seen on Apache Kafka 3.7.2, or is stricter where Kafka answers with an
// unknown server error or drops bytes silently.
func headerCases(t testing.TB) []validation {
	t.Helper()
	b := build(t, batch.None, 3)
	gzip := build(t, batch.Gzip, 3)
	return []validation{
		{"null records", nil, nil, batch.ErrInvalidRecord, 0},
		{"empty records", []byte{}, nil, batch.ErrInvalidRecord, 0},
		{"null records in v2", nil, version(2), batch.ErrInvalidRecord, 0},
		{"cut before magic", b[:16], nil, batch.ErrInvalidRecord, 0},
		{"cut in header", b[:60], nil, batch.ErrInvalidRecord, 0},
		{"cut in records", b[:len(b)-1], nil, batch.ErrInvalidRecord, 0},
		{"cut in v2", b[:len(b)-1], version(2), batch.ErrInvalidRecord, 0},
		{"two batches", append(bytes.Clone(b), b...), nil, batch.ErrInvalidRecord, 0},
		{"two compressed batches", append(bytes.Clone(gzip), gzip...), nil, batch.ErrInvalidRecord, 0},
		{"two batches in v2", append(bytes.Clone(b), b...), version(2), batch.ErrInvalidRecord, 0},
		{"bytes behind", append(bytes.Clone(b), 1), nil, batch.ErrInvalidRecord, 0},
		{"one batch in v0", b, version(0), nil, 0},
		{"one batch in v3", b, version(3), nil, 0},
		{"magic 0 in v3", golden(t, "v0-none"), version(3), batch.ErrInvalidRecord, 0},
		{"magic 1 in v9", golden(t, "v1-gzip"), nil, batch.ErrInvalidRecord, 0},
		{"magic 3", edited(b, set8(16, 3)), nil, batch.ErrCorrupt, 0},
		{"magic 3 in v2", edited(b, set8(16, 3)), version(2), batch.ErrCorrupt, 0},
		{"magic -1", edited(b, set8(16, -1)), nil, batch.ErrCorrupt, 0},
		{"negative length", edited(b, set32(8, -1)), nil, batch.ErrCorrupt, 0},
		{"length below the header", edited(b, set32(8, 48)), nil, batch.ErrCorrupt, 0},
		{"wrong CRC", func() []byte { c := bytes.Clone(b); c[17]++; return c }(), nil, batch.ErrCorrupt, 0},
		{"changed record", func() []byte { c := bytes.Clone(b); c[len(c)-1]++; return c }(), nil, batch.ErrCorrupt, 0},
		{"base offset 5", edited(b, set64(0, 5)), nil, batch.ErrInvalidRecord, 0},
		{"base offset 5 in v2", edited(b, set64(0, 5)), version(2), batch.ErrInvalidRecord, 0},
		{"no records", edited(b, set32(57, 0), set32(23, -1)), nil, batch.ErrInvalidRecord, 0},
		{"negative count", edited(b, set32(57, -1)), nil, batch.ErrInvalidRecord, 0},
		{"count above offsets", edited(b, set32(57, 4)), nil, batch.ErrInvalidRecord, 0},
		{"count below offsets", edited(b, set32(23, 5)), nil, batch.ErrInvalidRecord, 0},
		{"offsets overflow", edited(b, set32(57, math.MinInt32), set32(23, math.MaxInt32)), nil, batch.ErrInvalidRecord, 0},
		{"more records than bytes", edited(b, set32(57, 1<<30), set32(23, 1<<30-1)), nil, batch.ErrInvalidRecord, 0},
		{"more records than a batch may become", edited(gzip, set32(57, 19173962), set32(23, 19173961)), nil, batch.ErrInvalidRecord, 0},
		{"as many records as a batch may become", edited(gzip, set32(57, 19173961), set32(23, 19173960)), nil, nil, 0},
		{"control batch", edited(b, set16(21, 0x20)), nil, batch.ErrInvalidRecord, 0},
		{"transactional batch", edited(b, set16(21, 0x10), set64(43, 5), set32(53, 0)), nil, nil, 0},
		{"producer without sequence", edited(b, set64(43, 5)), nil, batch.ErrInvalidRecord, 0},
		{"negative producer id", edited(b, set64(43, -5)), nil, nil, 0},
		{"unknown codec", edited(b, set16(21, 5)), nil, batch.ErrInvalidRecord, 0},
		{"just small enough", b, maxBytes(len(b)), nil, 0},
		{"one byte too large", b, maxBytes(len(b) - 1), batch.ErrTooLarge, 0},
		{"zstd in v6", build(t, batch.Zstd, 1), version(6), batch.ErrUnsupportedCompression, 0},
		{"zstd in v7", build(t, batch.Zstd, 1), version(7), nil, 0},
		{"append time on a topic with append time", edited(b, set16(21, 0x08)), appendTime, batch.ErrInvalidTimestamp, 3},
		{"append time and no time", edited(b, set16(21, 0x08), set64(35, -1)), nil, batch.ErrInvalidTimestamp, 3},
	}
}

func keyCases(t testing.TB) []validation {
	t.Helper()
	mixed := [][]byte{[]byte("a"), nil, {}, nil}
	return []validation{
		{"all keyed", keyed(t, batch.None, []byte("a"), []byte{}), compacted, nil, 0},
		{"some without", keyed(t, batch.None, mixed...), compacted, batch.ErrInvalidRecord, 2},
		{"some without, zstd", keyed(t, batch.Zstd, mixed...), compacted, batch.ErrInvalidRecord, 2},
		{"other topic", keyed(t, batch.None, mixed...), nil, nil, 0},
		{"legacy", golden(t, "v1-none"), func(r *batch.Rules) { r.Version, r.Compacted = 2, true }, batch.ErrInvalidRecord, 8},
		{"legacy gzip", golden(t, "v0-gzip"), func(r *batch.Rules) { r.Version, r.Compacted = 2, true }, batch.ErrInvalidRecord, 8},
		{"recompressed", keyed(t, batch.Lz4, mixed...), func(r *batch.Rules) { r.Compression, r.Compacted = batch.Gzip, true }, batch.ErrInvalidRecord, 2},
	}
}

func boundCases(t testing.TB) []validation {
	t.Helper()
	bad := timed(t, now, now-1001, batch.NoTimestamp, now+1000, now+1001)
	return []validation{
		{"no bounds", timed(t, 0, math.MaxInt64/2), nil, nil, 0},
		{"at the bounds", timed(t, now-1000, now+1000), bounded, nil, 0},
		{"none", timed(t, batch.NoTimestamp), bounded, nil, 0},
		{"two beyond", bad, bounded, batch.ErrInvalidTimestamp, 2},
		{"far past", timed(t, math.MinInt64+1), bounded, batch.ErrInvalidTimestamp, 1},
		{"far future", timed(t, math.MaxInt64), bounded, batch.ErrInvalidTimestamp, 1},
		{"before only", timed(t, math.MaxInt64, now-1001), func(r *batch.Rules) { r.MaxBefore = 1000 }, batch.ErrInvalidTimestamp, 1},
		{"append time", bad, func(r *batch.Rules) { bounded(r); appendTime(r) }, nil, 0},
		{"legacy", golden(t, "v1-lz4"), func(r *batch.Rules) { bounded(r); r.Version, r.Now = 2, now+1010 }, batch.ErrInvalidTimestamp, 4},
		{"legacy without timestamps", golden(t, "v0-lz4"), func(r *batch.Rules) { bounded(r); r.Version = 2 }, nil, 0},
		{"a bad key as well", keyed(t, batch.None, nil), func(r *batch.Rules) { bounded(r); compacted(r); r.Now = 0 }, batch.ErrInvalidRecord, 1},
	}
}

func legacyCases(t testing.TB) []validation {
	t.Helper()
	plain, wrapped := golden(t, "v1-none"), golden(t, "v1-gzip")
	with := func(set []byte, edit func([]byte)) []byte {
		changed := bytes.Clone(set)
		edit(changed)
		size := binary.BigEndian.Uint32(changed[8:])
		binary.BigEndian.PutUint32(changed[12:], crc32.ChecksumIEEE(changed[16:12+size]))
		return changed
	}
	return []validation{
		{"messages", plain, version(2), nil, 0},
		{"wrapper", wrapped, version(0), nil, 0},
		{"cut", plain[:len(plain)-3], version(2), batch.ErrInvalidRecord, 0},
		{"cut in header", append(bytes.Clone(plain), 0, 0), version(2), batch.ErrInvalidRecord, 0},
		{"formats mixed", append(bytes.Clone(plain), golden(t, "v0-none")...), version(2), batch.ErrInvalidRecord, 0},
		{"batch behind", append(bytes.Clone(plain), golden(t, "v2-none")...), version(2), batch.ErrInvalidRecord, 0},
		{"behind a batch", append(golden(t, "v2-none"), plain...), version(2), batch.ErrInvalidRecord, 0},
		{"two wrappers", append(bytes.Clone(wrapped), wrapped...), version(2), batch.ErrInvalidRecord, 0},
		{"wrapper behind message", append(bytes.Clone(plain), wrapped...), version(2), batch.ErrInvalidRecord, 0},
		{"wrong CRC of the last message", func() []byte { c := bytes.Clone(plain); c[len(c)-1]++; return c }(), version(2), batch.ErrCorrupt, 0},
		{"wrong CRC of the wrapper", func() []byte { c := bytes.Clone(wrapped); c[12]++; return c }(), version(2), batch.ErrCorrupt, 0},
		{"size too small", func() []byte { c := bytes.Clone(plain); set32(8, 13)(c); return c }(), version(2), batch.ErrCorrupt, 0},
		{"negative size", func() []byte { c := bytes.Clone(plain); set32(8, -1)(c); return c }(), version(2), batch.ErrCorrupt, 0},
		{"wrapper offset 0", with(wrapped, set64(0, 0)), version(2), nil, 0},
		{"wrapper offset below the last inner one", with(wrapped, set64(0, 5)), version(2), batch.ErrInvalidRecord, 0},
		{"zstd wrapper", with(wrapped, set8(17, 4)), version(2), batch.ErrInvalidRecord, 0},
		{"unknown codec", with(wrapped, set8(17, 6)), version(2), batch.ErrInvalidRecord, 0},
		{"other codec", with(wrapped, set8(17, 3)), version(2), batch.ErrInvalidRecord, 0},
		{"append time on a topic with append time", golden(t, "v1-gzip-appendtime"), func(r *batch.Rules) { r.Version, r.AppendTime = 2, true }, batch.ErrInvalidTimestamp, 40},
		{"one message too large", plain, func(r *batch.Rules) { r.Version, r.MaxBytes = 2, 300 }, batch.ErrTooLarge, 0},
		{"too large as a batch", plain, func(r *batch.Rules) { r.Version, r.MaxBytes = 2, 5000 }, batch.ErrTooLarge, 0},
		{"wrapper too large", wrapped, func(r *batch.Rules) { r.Version, r.MaxBytes = 2, len(wrapped)-1 }, batch.ErrTooLarge, 0},
		{"too much inside", wrapped, func(r *batch.Rules) { r.Version, r.MaxDecompressed = 2, 5000 }, batch.ErrTooLarge, 0},
	}
}
