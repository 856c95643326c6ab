package batch_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

var codecs = []batch.Compression{batch.None, batch.Gzip, batch.Snappy, batch.Lz4, batch.Zstd}

func build(t testing.TB, codec batch.Compression, count int) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	for i := range count {
		builder.Add(1700000000000+int64(i), fmt.Appendf(nil, "key-%d", i), bytes.Repeat([]byte{'v'}, 100),
			batch.Header{Key: "h", Value: []byte("1")}, batch.Header{Key: ""})
	}
	built, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func collect(t testing.TB, b batch.Batch) []batch.Record {
	t.Helper()
	var records []batch.Record
	for record, err := range b.Records(nil, batch.SiteTool, 0) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

func TestRecordsOfEveryCodec(t *testing.T) {
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			b := build(t, codec, 1000)
			if b.Compression() != codec || !b.ValidCRC() || b.Count() != 1000 {
				t.Fatalf("header: codec %v, CRC valid %v, count %d", b.Compression(), b.ValidCRC(), b.Count())
			}
			records := collect(t, b)
			if len(records) != 1000 {
				t.Fatalf("got %d records", len(records))
			}
			last := records[999]
			if string(last.Key) != "key-999" || len(last.Value) != 100 || last.OffsetDelta != 999 || last.TimestampDelta != 999 {
				t.Errorf("last record %+v", last)
			}
			if len(last.Headers) != 2 || last.Headers[0].Key != "h" || last.Headers[1].Value != nil {
				t.Errorf("headers %+v", last.Headers)
			}
		})
	}
}

func TestValidateReturnsUsualBatchUnchanged(t *testing.T) {
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			sent := build(t, codec, 10)
			var wires batch.Tripwires
			got, err := batch.Validate(bytes.Clone(sent), batch.DefaultRules(), &wires)
			if err != nil || !bytes.Equal(got, sent) {
				t.Fatalf("got %x, %v", got, err)
			}
			for site, counts := range wires.Snapshot() {
				if counts != (batch.Counts{}) {
					t.Errorf("site %s: %+v", site, counts)
				}
			}
		})
	}
}
