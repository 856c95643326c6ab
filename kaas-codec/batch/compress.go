package batch

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy/xerial"
)

// xerialBlock is the block size of the xerial stream, and of snappy-java's default.
const xerialBlock = 32 << 10

// appendCompressed appends records to dst in the codec, framed as Kafka's Java client does.
func appendCompressed(dst, records []byte, codec Compression) ([]byte, error) {
	switch codec {
	case None:
		return append(dst, records...), nil
	case Gzip:
		writer := take(&pools.gzipWriters, newGzipWriter)
		defer pools.gzipWriters.Put(writer)
		return appendStream(dst, records, writer)
	case Snappy:
		return append(dst, xerial.Encode(make([]byte, 0, xerialBound(len(records))), records)...), nil
	case Lz4:
		writer := take(&pools.lz4Writers, newLz4Writer)
		defer pools.lz4Writers.Put(writer)
		return appendStream(dst, records, writer)
	case Zstd:
		encoder := take(&pools.zstdWriters, newZstdWriter)
		defer pools.zstdWriters.Put(encoder)
		return encoder.EncodeAll(records, dst), nil
	default:
		return nil, fmt.Errorf("compress as %v: %w", codec, ErrUnsupportedCompression)
	}
}

// resetWriter is what the stream compressors have in common.
type resetWriter interface {
	io.WriteCloser
	Reset(w io.Writer)
}

func appendStream(dst, records []byte, writer resetWriter) ([]byte, error) {
	buffer := bytes.NewBuffer(dst)
	writer.Reset(buffer)
	// A pooled compressor must not keep the caller's bytes alive.
	defer writer.Reset(io.Discard)
	if _, err := writer.Write(records); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return buffer.Bytes(), nil
}

// xerialBound is the most bytes that size bytes can take as a xerial stream.
func xerialBound(size int) int {
	blocks := (size + xerialBlock - 1) / xerialBlock
	return xerialHeaderSize + blocks*(xerialLengthSize+s2.MaxEncodedLen(xerialBlock))
}
