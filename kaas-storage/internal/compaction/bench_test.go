package compaction_test

import (
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

// benchLog is 64 batches of 100 records of 100 bytes with 2,000 keys.
func benchLog(b *testing.B, codec batch.Compression) (log []batch.Batch, size int64) {
	b.Helper()
	at := int64(0)
	value := make([]byte, 100)
	for range 64 {
		builder := batch.NewBuilder()
		builder.BaseOffset, builder.Compression = at, codec
		for range 100 {
			builder.Add(1, fmt.Appendf(nil, "key-%d", at*7919%2000), value)
			at++
		}
		built, err := builder.Build()
		if err != nil {
			b.Fatal(err)
		}
		log = append(log, built)
		size += int64(len(built))
	}
	return log, size
}

func BenchmarkCompaction(b *testing.B) {
	for _, codec := range []batch.Compression{batch.None, batch.Lz4, batch.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			log, size := benchLog(b, codec)
			b.SetBytes(size)
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				plan := compaction.NewPlan(compaction.Scope{End: 1 << 40, MapBytes: roomy})
				for _, next := range log {
					if _, err := plan.Survey(next); err != nil {
						b.Fatal(err)
					}
				}
				for _, next := range log {
					result, err := plan.Filter(next, dst)
					if err != nil {
						b.Fatal(err)
					}
					if result.Fate == compaction.Rebuilt {
						dst = result.Batch[:0]
					}
				}
			}
		})
	}
}
