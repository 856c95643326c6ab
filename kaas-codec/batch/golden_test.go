package batch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// The golden files are written by GoldenBatches.java of the module's testdata/gen with Apache Kafka's classes.
const (
	goldenBaseTime   = 1700000000000
	goldenAppendTime = goldenBaseTime + 1000
	goldenCount      = 40
)

func golden(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "golden", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// plainRecord is a record with absolute timestamp, so that batches with another base compare equal.
type plainRecord struct {
	offset, timestamp int64
	key, value        []byte
	headers           []batch.Header
}

func (p plainRecord) String() string {
	return fmt.Sprintf("offset %d time %d key %q null %v value %q null %v headers %q",
		p.offset, p.timestamp, p.key, p.key == nil, p.value, p.value == nil, p.headers)
}

// goldenRecord is record i as GoldenBatches.java makes it.
func goldenRecord(i int, magic int8) plainRecord {
	record := plainRecord{
		offset:    int64(i),
		timestamp: goldenBaseTime + 3*int64(i^1),
		key:       fmt.Appendf(nil, "key-%d", i),
		value:     []byte(strings.Repeat(fmt.Sprintf("value-%d ", i), i)),
	}
	if i%5 == 4 {
		record.key = nil
	}
	if i%7 == 6 {
		record.value = nil
	}
	if magic == 2 && i%3 == 2 {
		record.headers = []batch.Header{{Key: fmt.Sprintf("name-%d", i), Value: []byte("text")}, {}}
	}
	if magic == 0 {
		record.timestamp = batch.NoTimestamp
	}
	return record
}

func goldenRecords(magic int8, change func(*plainRecord)) []plainRecord {
	records := make([]plainRecord, goldenCount)
	for i := range records {
		records[i] = goldenRecord(i, magic)
		if change != nil {
			change(&records[i])
		}
	}
	return records
}

func plainRecords(t testing.TB, b batch.Batch) []plainRecord {
	t.Helper()
	var records []plainRecord
	for _, record := range collect(t, b) {
		plain := plainRecord{
			offset:    b.BaseOffset() + int64(record.OffsetDelta),
			timestamp: b.BaseTimestamp() + record.TimestampDelta,
			key:       record.Key,
			value:     record.Value,
			headers:   record.Headers,
		}
		if b.AppendTime() {
			plain.timestamp = b.MaxTimestamp()
		}
		records = append(records, plain)
	}
	return records
}

func sameRecords(t *testing.T, got, want []plainRecord) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].String() != want[i].String() {
			t.Errorf("record %d:\n got %v\nwant %v", i, got[i], want[i])
		}
	}
}

func onlyBatch(t testing.TB, content []byte) batch.Batch {
	t.Helper()
	b, rest, err := batch.Next(content)
	if err != nil || len(rest) != 0 {
		t.Fatalf("next: %v, %d bytes left", err, len(rest))
	}
	if !b.ValidCRC() {
		t.Fatal("CRC does not fit")
	}
	return b
}

func TestGoldenBatches(t *testing.T) {
	for _, codec := range codecs {
		t.Run(codec.String(), func(t *testing.T) {
			b := onlyBatch(t, golden(t, "v2-"+codec.String()))
			if b.Compression() != codec || b.Count() != goldenCount || b.LastOffset() != goldenCount-1 {
				t.Errorf("codec %v, count %d, last offset %d", b.Compression(), b.Count(), b.LastOffset())
			}
			if b.MaxTimestamp() != goldenBaseTime+3*39 || b.ProducerID() != batch.NoProducerID || b.BaseSequence() != -1 {
				t.Errorf("max timestamp %d, producer %d, sequence %d", b.MaxTimestamp(), b.ProducerID(), b.BaseSequence())
			}
			sameRecords(t, plainRecords(t, b), goldenRecords(2, nil))
		})
	}
}

func TestGoldenAppendTimeBatch(t *testing.T) {
	b := onlyBatch(t, golden(t, "v2-appendtime"))
	if !b.AppendTime() || b.MaxTimestamp() != goldenAppendTime {
		t.Fatalf("append time %v, max timestamp %d", b.AppendTime(), b.MaxTimestamp())
	}
	sameRecords(t, plainRecords(t, b), goldenRecords(2, func(r *plainRecord) { r.timestamp = goldenAppendTime }))
}

func TestGoldenTransactionalBatch(t *testing.T) {
	b := onlyBatch(t, golden(t, "v2-transactional"))
	if !b.Transactional() || b.Control() || b.ProducerID() != 4711 || b.ProducerEpoch() != 3 {
		t.Errorf("transactional %v, control %v, producer %d epoch %d",
			b.Transactional(), b.Control(), b.ProducerID(), b.ProducerEpoch())
	}
	if b.BaseSequence() != 1<<31-2 || b.LastSequence() != goldenCount-3 {
		t.Errorf("sequences %d to %d", b.BaseSequence(), b.LastSequence())
	}
}

func TestGoldenMarkers(t *testing.T) {
	for name, commit := range map[string]bool{"control-commit": true, "control-abort": false} {
		t.Run(name, func(t *testing.T) {
			b := onlyBatch(t, golden(t, name))
			marker, ok, err := b.Marker(nil)
			want := batch.Marker{Commit: commit, CoordinatorEpoch: 9}
			if err != nil || !ok || marker != want {
				t.Errorf("got %+v, %v, %v", marker, ok, err)
			}
			built, err := batch.NewMarkerBatch(want, 4711, 3, goldenBaseTime)
			if err != nil {
				t.Fatal(err)
			}
			built.SetBaseOffset(77)
			if !bytes.Equal(built, b) {
				t.Errorf("built %x\n  Kafka %x", []byte(built), []byte(b))
			}
		})
	}
}

// What Kafka's builder writes, ours writes too, byte for byte. Only what a codec makes of the records may differ: they are compared as records.
func TestBuilderMatchesKafka(t *testing.T) {
	transactional := batch.NewBuilder()
	transactional.Transactional, transactional.ProducerID, transactional.ProducerEpoch, transactional.BaseSequence = true, 4711, 3, 1<<31-2
	builders := map[string]*batch.Builder{"v2-transactional": transactional}
	for _, codec := range codecs {
		builder := batch.NewBuilder()
		builder.Compression = codec
		builders["v2-"+codec.String()] = builder
	}
	for name, builder := range builders {
		t.Run(name, func(t *testing.T) {
			for _, record := range goldenRecords(2, nil) {
				builder.Add(record.timestamp, record.key, record.value, record.headers...)
			}
			built, err := builder.Build()
			if err != nil {
				t.Fatal(err)
			}
			kafka := onlyBatch(t, golden(t, name))
			if builder.Compression == batch.None && !bytes.Equal(built, kafka) || !bytes.Equal(plainHeader(built), plainHeader(kafka)) {
				t.Errorf("built %x\n  Kafka %x", []byte(built[:batch.HeaderSize]), []byte(kafka[:batch.HeaderSize]))
			}
			sameRecords(t, plainRecords(t, onlyBatch(t, built)), plainRecords(t, kafka))
		})
	}
}

// plainHeader is a header without length and CRC, which depend on the compressed bytes.
func plainHeader(b batch.Batch) []byte {
	return slices.Concat(b[:8], b[12:17], b[21:batch.HeaderSize])
}

// What the broker's clock does to a batch is what Kafka's does.
func TestStampMatchesKafka(t *testing.T) {
	stamped := batch.Batch(golden(t, "v2-none"))
	stamped.StampAppendTime(goldenAppendTime)
	if want := golden(t, "v2-appendtime"); !bytes.Equal(stamped, want) {
		t.Errorf("stamped %x\n  Kafka %x", []byte(stamped[:batch.HeaderSize]), want[:batch.HeaderSize])
	}
}

func TestGoldenUpConversion(t *testing.T) {
	for _, codec := range codecs[:4] {
		for magic := range int8(2) {
			name := fmt.Sprintf("v%d-%v", magic, codec)
			t.Run(name, func(t *testing.T) {
				var wires batch.Tripwires
				rules := batch.DefaultRules()
				rules.Version = 2
				b, err := batch.Validate(golden(t, name), rules, &wires)
				if err != nil {
					t.Fatal(err)
				}
				onlyBatch(t, b)
				if b.Compression() != codec || b.BaseOffset() != 0 || b.AppendTime() {
					t.Errorf("codec %v, base offset %d, append time %v", b.Compression(), b.BaseOffset(), b.AppendTime())
				}
				sameRecords(t, plainRecords(t, b), goldenRecords(magic, dropHeaders))
				if got := wires.Snapshot()[batch.SiteUpConvert]; got != (batch.Counts{Decoded: 1, Reencoded: 1}) {
					t.Errorf("counted %+v", got)
				}
			})
		}
	}
}

func TestGoldenUpConversionOfAppendTime(t *testing.T) {
	for _, codec := range codecs[:4] {
		t.Run(codec.String(), func(t *testing.T) {
			rules := batch.DefaultRules()
			rules.Version = 2
			b, err := batch.Validate(golden(t, fmt.Sprintf("v1-%v-appendtime", codec)), rules, nil)
			if err != nil {
				t.Fatal(err)
			}
			sameRecords(t, plainRecords(t, b), goldenRecords(1, func(r *plainRecord) { r.timestamp = goldenAppendTime }))
		})
	}
}

func dropHeaders(record *plainRecord) { record.headers = nil }
