package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
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

// What the conformance tests use as well.
func records(t testing.TB, tag string, n int, timestamp int64) batch.Batch {
	t.Helper()
	return storagetest.Records(t, tag, n, timestamp)
}

func stamped(t testing.TB, timestamps ...int64) batch.Batch {
	t.Helper()
	return storagetest.Stamped(t, timestamps...)
}

func sequenced(t testing.TB, id int64, epoch int16, sequence int32, n int) batch.Batch {
	t.Helper()
	return storagetest.Sequenced(t, id, epoch, sequence, n)
}

func appendDurable(t testing.TB, p *storage.Partition, b batch.Batch) storage.AppendResult {
	t.Helper()
	return storagetest.Append(t, p, b)
}

func readAll(t testing.TB, p *storage.Partition, offset int64) []string {
	t.Helper()
	return storagetest.Values(t, p, offset)
}

// build is records for who may not end the test.
func build(tag string, n int, timestamp int64) (batch.Batch, error) {
	builder := batch.NewBuilder()
	for i := range n {
		builder.Add(timestamp+int64(i), nil, fmt.Appendf(nil, "%s-%d", tag, i))
	}
	return builder.Build()
}
