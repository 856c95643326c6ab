package storage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// bench is one engine over a file system with a prepared partition directory "p".
type bench struct {
	t      testing.TB
	fs     vfs.FS
	engine *storage.Engine
	config storage.Config
}

func newBench(t testing.TB, filesystem vfs.FS, o storage.Options) *bench {
	t.Helper()
	b := &bench{t: t, fs: filesystem, config: storage.DefaultConfig()}
	engine, err := storage.NewEngine(o)
	must(t, err)
	b.engine = engine
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Errorf("close engine: %v", err)
		}
	})
	must(t, filesystem.MkdirAll("p"))
	dir := b.dir()
	defer dir.Close()
	must(t, storage.InitPartition(dir, 0))
	return b
}

func (b *bench) dir() vfs.Dir {
	b.t.Helper()
	dir, err := b.fs.OpenDir("p")
	must(b.t, err)
	return dir
}

func (b *bench) take() *storage.Partition {
	b.t.Helper()
	p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config})
	must(b.t, err)
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// records builds a batch of n records whose values are tag-0, tag-1, …
func records(t testing.TB, tag string, n int, timestamp int64) batch.Batch {
	t.Helper()
	b, err := build(tag, n, timestamp)
	must(t, err)
	return b
}

func build(tag string, n int, timestamp int64) (batch.Batch, error) {
	builder := batch.NewBuilder()
	for i := range n {
		builder.Add(timestamp+int64(i), nil, fmt.Appendf(nil, "%s-%d", tag, i))
	}
	return builder.Build()
}

func appendDurable(t testing.TB, p *storage.Partition, b batch.Batch) storage.AppendResult {
	t.Helper()
	ticket, err := p.Append(b, storage.AppendOptions{})
	must(t, err)
	must(t, ticket.WaitDurable(context.Background()))
	return ticket.Result()
}

// readAll returns the values of all records from offset on, in order, and checks that offsets are contiguous.
func readAll(t testing.TB, p *storage.Partition, offset int64) []string {
	t.Helper()
	var values []string
	for {
		section, err := p.Read(offset, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		must(t, err)
		if section == nil {
			return values
		}
		data := make([]byte, section.Size())
		if _, err := section.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		section.Release()
		for {
			b, rest, err := batch.Next(data)
			if errors.Is(err, batch.ErrTruncated) {
				break
			}
			must(t, err)
			if !b.ValidCRC() {
				t.Fatalf("bad checksum at offset %d", b.BaseOffset())
			}
			for record, err := range b.Records(nil, batch.SiteTool, 1<<30) {
				must(t, err)
				if at := b.BaseOffset() + int64(record.OffsetDelta); at == offset {
					values = append(values, string(record.Value))
					offset++
				} else if at > offset {
					t.Fatalf("offset %d follows %d", at, offset)
				}
			}
			data = rest
		}
	}
}

func values(tags ...string) []string { return tags }

func TestAppendAndRead(t *testing.T) {
	b := newBench(t, vfs.NewMem(64<<20), storage.Options{})
	p := b.take()
	first := appendDurable(t, p, records(t, "a", 3, 1000))
	second := appendDurable(t, p, records(t, "b", 2, 2000))
	if first.BaseOffset != 0 || second.BaseOffset != 3 || second.LastOffset != 4 {
		t.Fatalf("offsets: %+v %+v", first, second)
	}
	if got, want := fmt.Sprint(readAll(t, p, 1)), fmt.Sprint(values("a-1", "a-2", "b-0", "b-1")); got != want {
		t.Fatalf("read %s, want %s", got, want)
	}
	if o := p.Offsets(); o.HighWatermark != 5 || o.LogEnd != 5 || o.LogStart != 0 {
		t.Fatalf("offsets: %+v", o)
	}
}

func TestSecondOwnerFencesTheFirst(t *testing.T) {
	b := newBench(t, vfs.NewMem(64<<20), storage.Options{})
	first := b.take()
	appendDurable(t, first, records(t, "a", 3, 1000))
	second := b.take()
	if second.Epoch() <= first.Epoch() {
		t.Fatalf("epoch %d follows %d", second.Epoch(), first.Epoch())
	}
	ticket, err := first.Append(records(t, "zombie", 1, 2000), storage.AppendOptions{})
	if err == nil {
		err = ticket.WaitDurable(context.Background())
	}
	if !errors.Is(err, storage.ErrFenced) {
		t.Fatalf("append of a fenced owner: %v", err)
	}
	if got := first.Offsets().HighWatermark; got != 3 {
		t.Fatalf("watermark of a fenced owner moved to %d", got)
	}
	appendDurable(t, second, records(t, "b", 1, 3000))
	if got, want := fmt.Sprint(readAll(t, second, 0)), fmt.Sprint(values("a-0", "a-1", "a-2", "b-0")); got != want {
		t.Fatalf("read %s, want %s", got, want)
	}
}

func TestReopenMany(t *testing.T) {
	b := newBench(t, vfs.NewMem(64<<20), storage.Options{})
	b.config.SegmentBytes = 300
	var want []string
	for round := range 20 {
		p := b.take()
		for i := range 5 {
			tag := fmt.Sprintf("r%d.%d", round, i)
			appendDurable(t, p, records(t, tag, 2, int64(1000*round+i)))
			want = append(want, tag+"-0", tag+"-1")
		}
		switch round % 3 {
		case 0:
			must(t, p.Handover(context.Background()))
		case 1:
			p.Abandon()
		}
		if got := fmt.Sprint(readAll(t, b.take(), 0)); got != fmt.Sprint(want) {
			t.Fatalf("round %d: read %s, want %s", round, got, want)
		}
	}
	p := b.take()
	start, err := p.DeleteRecords(context.Background(), 101)
	must(t, err)
	if start != 101 {
		t.Fatalf("log start %d", start)
	}
	if got := fmt.Sprint(readAll(t, p, 101)); got != fmt.Sprint(want[101:]) {
		t.Fatalf("read %s, want %s", got, want[101:])
	}
	must(t, p.Handover(context.Background()))
	p = b.take()
	if got := p.Offsets().LogStart; got != 101 {
		t.Fatalf("log start %d after reopening", got)
	}
	if _, err := p.DeleteRecords(context.Background(), -1); err != nil {
		t.Fatal(err)
	}
	appendDurable(t, p, records(t, "z", 1, 1))
	p.Abandon()
	p = b.take()
	if got := fmt.Sprint(readAll(t, p, 200)); got != "[z-0]" {
		t.Fatalf("read %s", got)
	}
}
