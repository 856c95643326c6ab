package storage_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// benchmarked is a file system to measure on.
type benchmarked struct {
	name string
	open func(b *testing.B) vfs.FS
}

func fileSystems() []benchmarked {
	return append(diskFileSystems(), benchmarked{"mem", func(*testing.B) vfs.FS { return vfs.NewMem(2 << 30) }})
}

// payload is a batch whose records have about size bytes together.
func payload(b *testing.B, size int) batch.Batch {
	b.Helper()
	return records(b, string(make([]byte, size)), 1, 1000)
}

// BenchmarkAppend measures append and commit, one at a time and pipelined.
func BenchmarkAppend(b *testing.B) {
	for _, filesystem := range fileSystems() {
		for _, size := range []int{1 << 10, 64 << 10} {
			for _, inFlight := range []int{1, 16} {
				b.Run(fmt.Sprintf("%s/%dKiB/%d in flight", filesystem.name, size>>10, inFlight), func(b *testing.B) {
					bench := newBench(b, filesystem.open(b), storage.Options{RetentionInterval: -1})
					bench.config.SegmentBytes, bench.config.RetentionBytes = 64<<20, 256<<20
					p := bench.take()
					data := payload(b, size)
					batches := make([]batch.Batch, inFlight)
					tickets := make([]storage.Ticket, inFlight)
					for i := range batches {
						batches[i] = append(batch.Batch(nil), data...)
					}
					b.SetBytes(int64(len(data)))
					b.ReportAllocs()
					b.ResetTimer()
					for i := range b.N {
						slot := i % inFlight
						if i >= inFlight {
							must(b, tickets[slot].WaitDurable(context.Background()))
						}
						if i%1024 == 1023 && p.Size() > 1<<30 {
							_, err := p.DeleteRecords(context.Background(), -1)
							must(b, err)
						}
						ticket, err := p.Append(batches[slot], storage.AppendOptions{})
						must(b, err)
						tickets[slot] = ticket
					}
					for _, ticket := range tickets {
						must(b, ticket.WaitDurable(context.Background()))
					}
				})
			}
		}
	}
}

// BenchmarkRead measures finding and reading a section at offsets all over the log.
func BenchmarkRead(b *testing.B) {
	for _, filesystem := range fileSystems() {
		for _, size := range []int{4 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", filesystem.name, size>>10), func(b *testing.B) {
				bench := newBench(b, filesystem.open(b), storage.Options{RetentionInterval: -1})
				p := bench.take()
				var last storage.Ticket
				for range 64 << 10 {
					ticket, err := p.Append(payload(b, 1<<10), storage.AppendOptions{})
					must(b, err)
					last = ticket
				}
				must(b, last.WaitDurable(context.Background()))
				buffer := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				for i := range b.N {
					offset := int64(i) * 7919 % (60 << 10)
					section, err := p.Read(offset, storage.ReadOptions{MaxBytes: size, AtLeastOneBatch: true})
					must(b, err)
					if _, err := section.ReadAt(buffer[:min(int64(size), section.Size())], 0); err != nil {
						b.Fatal(err)
					}
					section.Release()
				}
			})
		}
	}
}

// BenchmarkTakeover measures a takeover with nothing to copy, as of an idle partition.
func BenchmarkTakeover(b *testing.B) {
	for _, filesystem := range fileSystems() {
		b.Run(filesystem.name, func(b *testing.B) {
			bench := newBench(b, filesystem.open(b), storage.Options{RetentionInterval: -1})
			p := bench.take()
			appendDurable(b, p, payload(b, 1<<10))
			b.ReportAllocs()
			for b.Loop() {
				must(b, p.Handover(context.Background()))
				p = bench.take()
			}
		})
	}
}

// BenchmarkTakeoverTail measures a takeover that copies a tail of small batches, as after a kill under the load of clients that do not wait for each other.
func BenchmarkTakeoverTail(b *testing.B) {
	const size, tail = 128, 12 << 20
	for _, filesystem := range fileSystems() {
		b.Run(filesystem.name, func(b *testing.B) {
			dead := newBench(b, filesystem.open(b), storage.Options{RetentionInterval: -1})
			p := dead.take()
			data := payload(b, size)
			var last storage.Ticket
			for range tail / len(data) {
				ticket, err := p.Append(append(batch.Batch(nil), data...), storage.AppendOptions{})
				must(b, err)
				last = ticket
			}
			must(b, last.WaitDurable(context.Background()))
			b.SetBytes(tail)
			b.ReportAllocs()
			for b.Loop() {
				dead.take()
			}
		})
	}
}
