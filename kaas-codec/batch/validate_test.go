package batch_test

import (
	"bytes"
	"errors"
	"fmt"
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
	if rejected.Error() != c.want.Error()+": "+rejected.Message {
		t.Errorf("error text %q", rejected.Error())
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

func TestValidateHeader(t *testing.T) {
	for _, c := range headerCases(t) {
		t.Run(c.name, c.run)
	}
}

func TestValidateKeysOfCompactedTopics(t *testing.T) {
	cases := keyCases(t)
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
	for _, c := range boundCases(t) {
		t.Run(c.name, c.run)
	}
}

func TestValidateLegacySets(t *testing.T) {
	for _, c := range legacyCases(t) {
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
