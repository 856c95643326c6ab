package batch

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxWindow is the largest window that Kafka's own zstd binding accepts by default.
const maxWindow = 128 << 20

// pools keeps compressors for reuse; a zstd encoder takes milliseconds and megabytes to make.
//
// It is the package's only variable state. A pool per owner is not possible here: decoding is a method of
// a byte slice and validation a function, so that nobody has to carry a codec object along the
// produce path that almost never needs one. What a pool holds has no identity and no data of a
// former user; the garbage collector empties it.
var pools struct {
	gzipReaders, gzipWriters, lz4Readers, lz4Writers, zstdReaders, zstdWriters sync.Pool
}

// take returns what the pool holds or makes one.
func take[T any](pool *sync.Pool, fresh func() T) T {
	if pooled, ok := pool.Get().(T); ok {
		return pooled
	}
	return fresh()
}

func newGzipReader() *gzip.Reader { return new(gzip.Reader) }

func newGzipWriter() *gzip.Writer { return gzip.NewWriter(io.Discard) }

func newLz4Reader() *lz4.Reader { return lz4.NewReader(nil) }

// newLz4Writer writes frames that Kafka's Java reader accepts: independent blocks of 64 KiB, no
// content size, no checksum of the content.
func newLz4Writer() *lz4.Writer {
	writer := lz4.NewWriter(io.Discard)
	// Options apply to a writer that has not begun a frame; these values are valid by construction.
	_ = writer.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1))
	return writer
}

// newZstdReader returns a decoder that works in the caller's goroutine.
func newZstdReader() *zstd.Decoder {
	decoder, _ := zstd.NewReader(nil, // fails for invalid options only
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	return decoder
}

func newZstdWriter() *zstd.Encoder {
	encoder, _ := zstd.NewWriter(nil, // fails for invalid options only
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
	return encoder
}
