package batch_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func TestBuilderOffsets(t *testing.T) {
	builder := batch.NewBuilder()
	builder.AddAt(2, 10, []byte("a"), nil)
	builder.Add(10, []byte("b"), nil)
	builder.AddAt(9, 10, []byte("c"), nil)
	builder.ExtendTo(11)
	builder.ExtendTo(5)
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	if b.Count() != 3 || b.LastOffsetDelta() != 11 {
		t.Errorf("count %d, last offset delta %d", b.Count(), b.LastOffsetDelta())
	}
	var deltas []int32
	for _, record := range collect(t, b) {
		deltas = append(deltas, record.OffsetDelta)
	}
	if len(deltas) != 3 || deltas[0] != 2 || deltas[1] != 3 || deltas[2] != 9 {
		t.Errorf("deltas %v", deltas)
	}
}

// Compaction keeps a batch without records as the last word of its producer.
func TestBuilderWithoutRecords(t *testing.T) {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = 1, 0, 0
	builder.ExtendTo(4)
	b, err := builder.Build()
	if err != nil || b.Count() != 0 || b.LastOffsetDelta() != 4 || len(b) != batch.HeaderSize {
		t.Fatalf("got %x, %v", b, err)
	}
	if records := collect(t, b); len(records) != 0 {
		t.Errorf("records %v", records)
	}
}

func TestBuilderReuse(t *testing.T) {
	builder := batch.NewBuilder()
	builder.Add(1, []byte("a"), []byte("1"))
	first, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(first)
	builder.Add(2, []byte("b"), []byte("2"))
	second, err := builder.Build()
	if err != nil || second.Count() != 2 || !bytes.Equal(first, kept) {
		t.Errorf("second: %v, count %d; first changed: %v", err, second.Count(), !bytes.Equal(first, kept))
	}
}

// A Builder that was reset builds what a new one does, and leaves what it built before alone.
func TestBuilderReset(t *testing.T) {
	used := batch.NewBuilder()
	used.ProducerID, used.BaseOffset, used.Transactional = 7, 100, true
	used.Add(3, []byte("old"), []byte("content"))
	old, err := used.Build()
	if err != nil {
		t.Fatal(err)
	}
	kept := bytes.Clone(old)
	used.Reset()
	used.AddAt(-1, 0, nil, nil) // fails, and is forgotten
	used.Reset()
	fresh := batch.NewBuilder()
	for _, b := range []*batch.Builder{used, fresh} {
		b.Add(1000, []byte("key"), []byte("value"))
		b.Add(1001, nil, nil)
	}
	got, err := used.Build()
	if err != nil {
		t.Fatal(err)
	}
	want, err := fresh.Build()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) || !bytes.Equal(old, kept) {
		t.Errorf("built %x, want %x; before it %x, want %x", got, want, old, kept)
	}
}

func TestBuilderErrors(t *testing.T) {
	cases := []struct {
		name  string
		build func(*batch.Builder)
		want  error
	}{
		{"nothing added", func(*batch.Builder) {}, batch.ErrMalformed},
		{"offset repeated", func(b *batch.Builder) { b.Add(1, nil, nil); b.AddAt(0, 1, nil, nil) }, batch.ErrMalformed},
		{"offset goes back", func(b *batch.Builder) { b.AddAt(5, 1, nil, nil); b.AddAt(4, 1, nil, nil) }, batch.ErrMalformed},
		{"negative offset", func(b *batch.Builder) { b.AddAt(-1, 1, nil, nil) }, batch.ErrMalformed},
		{"unknown codec", func(b *batch.Builder) { b.Compression = 5; b.Add(1, nil, nil) }, batch.ErrUnsupportedCompression},
		{"codec of the producer", func(b *batch.Builder) { b.Compression = batch.KeepCompression; b.Add(1, nil, nil) }, batch.ErrUnsupportedCompression},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			builder := batch.NewBuilder()
			c.build(builder)
			if b, err := builder.Build(); !errors.Is(err, c.want) || b != nil {
				t.Errorf("got %x, %v", b, err)
			}
		})
	}
}
