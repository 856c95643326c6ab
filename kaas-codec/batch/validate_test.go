package batch_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// now is the clock of all rules in these tests, in milliseconds.
const now = 1700000000000

type validation struct {
	name    string
	records []byte
	rules   func(*batch.Rules)
	want    error // reason, nil when the records are taken
	bad     int   // records listed
}

func (c validation) validate(wires *batch.Tripwires) (batch.Batch, error) {
	rules := batch.DefaultRules()
	rules.Now = now
	rules.Version = 9
	if c.rules != nil {
		c.rules(&rules)
	}
	return batch.Validate(bytes.Clone(c.records), rules, wires)
}

func (c validation) run(t *testing.T) {
	t.Helper()
	b, err := c.validate(nil)
	if c.want == nil {
		if err != nil {
			t.Fatalf("rejected: %v", err)
		}
		onlyBatch(t, b)
		return
	}
	var rejected *batch.RejectedError
	if !errors.As(err, &rejected) || !errors.Is(err, c.want) || b != nil {
		t.Fatalf("got %x, %v, want %v", b, err, c.want)
	}
	if rejected.Message == "" || len(rejected.Records) != c.bad {
		t.Errorf("message %q, %d records listed, want %d", rejected.Message, len(rejected.Records), c.bad)
	}
}

func version(v int16) func(*batch.Rules) { return func(r *batch.Rules) { r.Version = v } }

func maxBytes(n int) func(*batch.Rules) { return func(r *batch.Rules) { r.MaxBytes = n } }

func compacted(r *batch.Rules) { r.Compacted = true }

func appendTime(r *batch.Rules) { r.AppendTime = true }

func bounded(r *batch.Rules) { r.MaxBefore, r.MaxAfter = 1000, 1000 }

func recompressed(codec batch.Compression) func(*batch.Rules) {
	return func(r *batch.Rules) { r.Compression = codec }
}

func timed(t testing.TB, timestamps ...int64) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	for _, timestamp := range timestamps {
		builder.Add(timestamp, []byte("k"), []byte("v"))
	}
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keyed(t testing.TB, codec batch.Compression, keys ...[]byte) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	for _, key := range keys {
		builder.Add(now, key, []byte("v"))
	}
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Every answer below was seen on Apache Kafka 3.7.2, or is stricter where Kafka answers with an
// unknown server error or drops bytes silently.
func TestValidateHeader(t *testing.T) {
	b := build(t, batch.None, 3)
	gzip := build(t, batch.Gzip, 3)
	cases := []validation{
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
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestValidateKeysOfCompactedTopics(t *testing.T) {
	mixed := [][]byte{[]byte("a"), nil, {}, nil}
	cases := []validation{
		{"all keyed", keyed(t, batch.None, []byte("a"), []byte{}), compacted, nil, 0},
		{"some without", keyed(t, batch.None, mixed...), compacted, batch.ErrInvalidRecord, 2},
		{"some without, zstd", keyed(t, batch.Zstd, mixed...), compacted, batch.ErrInvalidRecord, 2},
		{"other topic", keyed(t, batch.None, mixed...), nil, nil, 0},
		{"legacy", golden(t, "v1-none"), func(r *batch.Rules) { r.Version, r.Compacted = 2, true }, batch.ErrInvalidRecord, 8},
		{"legacy gzip", golden(t, "v0-gzip"), func(r *batch.Rules) { r.Version, r.Compacted = 2, true }, batch.ErrInvalidRecord, 8},
		{"recompressed", keyed(t, batch.Lz4, mixed...), func(r *batch.Rules) { r.Compression, r.Compacted = batch.Gzip, true }, batch.ErrInvalidRecord, 2},
	}
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
	var rejected *batch.RejectedError
	_, err := cases[1].validate(nil)
	if errors.As(err, &rejected); rejected.Records[0].Index != 1 || rejected.Records[1].Index != 3 || rejected.Records[0].Message == "" {
		t.Errorf("listed %+v", rejected.Records)
	}
}

func TestValidateTimestampBounds(t *testing.T) {
	bad := timed(t, now, now-1001, batch.NoTimestamp, now+1000, now+1001)
	cases := []validation{
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
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestValidateLegacySets(t *testing.T) {
	plain, wrapped := golden(t, "v1-none"), golden(t, "v1-gzip")
	with := func(set []byte, edit func([]byte)) []byte {
		changed := bytes.Clone(set)
		edit(changed)
		size := binary.BigEndian.Uint32(changed[8:])
		binary.BigEndian.PutUint32(changed[12:], crc32.ChecksumIEEE(changed[16:12+size]))
		return changed
	}
	cases := []validation{
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
	for _, c := range cases {
		t.Run(c.name, c.run)
	}
}

func TestValidateClearsForeignAttributes(t *testing.T) {
	b := build(t, batch.Gzip, 3)
	cases := []struct {
		name       string
		attributes int16
	}{
		{"append time on a topic with create time", 0x08},
		{"delete horizon", 0x40},
		{"undefined", -128},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := batch.Validate(edited(b, set16(21, c.attributes|1)), batch.DefaultRules(), nil)
			if err != nil || !bytes.Equal(got, b) {
				t.Errorf("got %x, %v", got, err)
			}
		})
	}
}

func TestValidateCorrectsMaxTimestamp(t *testing.T) {
	b := timed(t, now+5, now+90, now+7)
	cases := []struct {
		name    string
		claimed int64
		rules   func(*batch.Rules)
		want    int64
		site    batch.Site
	}{
		{"unset", -1, nil, now + 90, batch.SiteMaxTimestamp},
		{"below the base", now + 4, nil, now + 90, batch.SiteMaxTimestamp},
		{"believed", now + 6, nil, now + 6, ""},
		{"wrong and decoded anyway", now + 6, compacted, now + 90, batch.SiteCompactKeys},
		{"too high and decoded anyway", now + 1000, bounded, now + 90, batch.SiteTimestampBounds},
		{"append time will replace it", -1, appendTime, -1, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var wires batch.Tripwires
			got, err := validation{records: edited(b, set64(35, c.claimed)), rules: c.rules}.validate(&wires)
			if err != nil {
				t.Fatal(err)
			}
			if onlyBatch(t, got); got.MaxTimestamp() != c.want {
				t.Errorf("max timestamp %d, want %d", got.MaxTimestamp(), c.want)
			}
			for site, counts := range wires.Snapshot() {
				if want := (batch.Counts{}); site != c.site && counts != want || site == c.site && counts.Decoded != 1 {
					t.Errorf("site %s counted %+v", site, counts)
				}
			}
		})
	}
}

func TestValidateRecompresses(t *testing.T) {
	for _, source := range codecs {
		for _, target := range codecs {
			t.Run(fmt.Sprintf("%v to %v", source, target), func(t *testing.T) {
				sent := golden(t, "v2-"+source.String())
				var wires batch.Tripwires
				got, err := validation{records: sent, rules: recompressed(target)}.validate(&wires)
				if err != nil {
					t.Fatal(err)
				}
				if onlyBatch(t, got); got.Compression() != target || got.ProducerID() != batch.NoProducerID {
					t.Errorf("codec %v", got.Compression())
				}
				sameRecords(t, plainRecords(t, got), goldenRecords(2, nil))
				want := batch.Counts{Decoded: 1, Reencoded: 1}
				if source == target {
					want = batch.Counts{}
				}
				if counts := wires.Snapshot()[batch.SiteRecompress]; counts != want {
					t.Errorf("counted %+v", counts)
				}
			})
		}
	}
}

func TestValidateRecompressionAboveMaxBytes(t *testing.T) {
	sent := golden(t, "v2-gzip")
	validation{records: sent, rules: func(r *batch.Rules) { r.Compression, r.MaxBytes = batch.None, 2000 }, want: batch.ErrTooLarge}.run(t)
	validation{records: sent, rules: func(r *batch.Rules) { r.Compression, r.MaxDecompressed = batch.None, 2000 }, want: batch.ErrTooLarge}.run(t)
}

// What only the records can tell is noticed when they are decoded for another reason.
func TestValidateDecodedRecords(t *testing.T) {
	for _, codec := range codecs {
		b := build(t, codec, 3)
		cases := []validation{
			{"fewer records than counted", edited(b, set32(57, 4), set32(23, 3)), compacted, batch.ErrInvalidRecord, 0},
			{"more records than counted", edited(b, set32(57, 2), set32(23, 1)), compacted, batch.ErrInvalidRecord, 0},
			{"not the codec's bytes", edited(b, func(b []byte) { copy(b[61:], strings.Repeat("x", len(b)-61)) }), compacted, batch.ErrInvalidRecord, 0},
		}
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s, %v", c.name, codec), c.run)
		}
	}
}

func TestValidateRenumbersDecodedRecords(t *testing.T) {
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			builder := batch.NewBuilder()
			builder.Compression = codec
			builder.AddAt(3, now, []byte("a"), []byte("1"), batch.Header{Key: "h", Value: []byte("x")})
			builder.AddAt(1<<20, now+1, []byte("b"), nil)
			sent, err := builder.Build()
			if err != nil {
				t.Fatal(err)
			}
			got, err := validation{records: edited(sent, set32(23, 1)), rules: compacted}.validate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if onlyBatch(t, got); got.Compression() != codec {
				t.Errorf("codec %v", got.Compression())
			}
			sameRecords(t, plainRecords(t, got), []plainRecord{
				{offset: 0, timestamp: now, key: []byte("a"), value: []byte("1"), headers: []batch.Header{{Key: "h", Value: []byte("x")}}},
				{offset: 1, timestamp: now + 1, key: []byte("b")},
			})
		})
	}
}

func TestValidateAllocatesNothing(t *testing.T) {
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			b := build(t, codec, 100)
			rules := batch.DefaultRules()
			var wires batch.Tripwires
			allocations := testing.AllocsPerRun(100, func() {
				if _, err := batch.Validate(b, rules, &wires); err != nil {
					t.Fatal(err)
				}
			})
			if allocations != 0 {
				t.Errorf("%v allocations", allocations)
			}
		})
	}
}
