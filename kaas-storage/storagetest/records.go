package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// Records builds a batch of n records whose values are tag-0, tag-1, …, a millisecond apart.
func Records(t testing.TB, tag string, n int, timestamp int64) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	for i := range n {
		builder.Add(timestamp+int64(i), nil, fmt.Appendf(nil, "%s-%d", tag, i))
	}
	return built(t, builder)
}

// Stamped builds a batch with a record for each timestamp.
func Stamped(t testing.TB, timestamps ...int64) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	for _, at := range timestamps {
		builder.Add(at, nil, []byte("some value"))
	}
	return built(t, builder)
}

// Sequenced builds a batch of n records of an idempotent producer.
func Sequenced(t testing.TB, id int64, epoch int16, sequence int32, n int) batch.Batch {
	t.Helper()
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = id, epoch, sequence
	for range n {
		builder.Add(1000, nil, []byte("v"))
	}
	return built(t, builder)
}

func built(t testing.TB, builder *batch.Builder) batch.Batch {
	t.Helper()
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Append appends a batch and waits until it is durable.
func Append(t testing.TB, p *storage.Partition, b batch.Batch) storage.AppendResult {
	t.Helper()
	ticket, err := p.Append(b, storage.AppendOptions{})
	if err == nil {
		err = ticket.WaitDurable(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return ticket.Result()
}

// Values reads the values of all records from offset on, in order. It fails the test when offsets have a gap or a checksum is wrong.
func Values(t testing.TB, p *storage.Partition, offset int64) []string {
	t.Helper()
	r := reader{t: t, next: offset}
	for {
		section, err := p.Read(r.next, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		if err != nil {
			t.Fatal(err)
		}
		if section == nil {
			return r.values
		}
		data := make([]byte, section.Size())
		if _, err := section.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		section.Release()
		r.batches(data)
	}
}

// reader collects records in the order of their offsets.
type reader struct {
	t      testing.TB
	next   int64
	values []string
}

func (r *reader) batches(data []byte) {
	r.t.Helper()
	for {
		b, rest, err := batch.Next(data)
		if errors.Is(err, batch.ErrTruncated) {
			return
		}
		if err != nil {
			r.t.Fatal(err)
		}
		if !b.ValidCRC() {
			r.t.Fatalf("bad checksum at offset %d", b.BaseOffset())
		}
		r.records(b)
		data = rest
	}
}

func (r *reader) records(b batch.Batch) {
	r.t.Helper()
	for record, err := range b.Records(nil, batch.SiteTool, 1<<30) {
		if err != nil {
			r.t.Fatal(err)
		}
		at := b.BaseOffset() + int64(record.OffsetDelta)
		if at > r.next {
			r.t.Fatalf("offset %d where %d should follow", at, r.next)
		}
		if at == r.next {
			r.values = append(r.values, string(record.Value))
			r.next++
		}
	}
}
