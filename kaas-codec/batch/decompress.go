package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// minBuffer is the smallest buffer for decompressed bytes.
	minBuffer = 512
	// usualWindow is the largest window of zstd levels below the ultra ones. Kafka's producers use 2 MiB
	// by default.
	usualWindow = 8 << 20
)

// decompress returns src uncompressed, in dst's memory if that is large enough, or src itself for
// [None]. It stops with [ErrDecompressedSize] as soon as more than the limit comes out, so that memory
// stays in proportion to the limit whatever the bytes claim. Bytes that the codec cannot read are
// [ErrMalformed].
func decompress(dst, src []byte, codec Compression, limit Limit) ([]byte, error) {
	switch codec {
	case None:
		return src, nil
	case Gzip:
		return decompressGzip(dst, src, limit.bytes())
	case Snappy:
		return decompressSnappy(dst, src, limit.bytes())
	case Lz4:
		return decompressLz4(dst, src, limit.bytes())
	case Zstd:
		return decompressZstd(dst, src, limit.bytes())
	default:
		return nil, fmt.Errorf("decompress %v: %w", codec, ErrUnsupportedCompression)
	}
}

func decompressGzip(dst, src []byte, limit int) ([]byte, error) {
	reader := take(&pools.gzipReaders, newGzipReader)
	defer pools.gzipReaders.Put(reader)
	if err := reader.Reset(bytes.NewReader(src)); err != nil {
		return nil, decodeError(Gzip, err)
	}
	out, err := readLimited(reader, dst, len(src), limit)
	return out, decodeError(Gzip, err)
}

func decompressLz4(dst, src []byte, limit int) ([]byte, error) {
	reader := take(&pools.lz4Readers, newLz4Reader)
	defer pools.lz4Readers.Put(reader)
	reader.Reset(bytes.NewReader(src))
	defer reader.Reset(nil)
	out, err := readLimited(reader, dst, len(src), limit)
	return out, decodeError(Lz4, err)
}

// decompressZstd decodes into one growing buffer, which serves as the window as well: a streaming
// decoder would allocate the window that the frame announces, up to 128 MiB for a byte. A frame
// that states its content size gets a buffer of that size, within the limit, at once.
func decompressZstd(dst, src []byte, limit int) ([]byte, error) {
	decoder := take(&pools.zstdReaders, newZstdReader)
	defer pools.zstdReaders.Put(decoder)
	// The library refuses windows above its limit, so that a low one must leave room for the usual.
	if err := decoder.ResetWithOptions(nil, zstd.WithDecoderMaxMemory(uint64(max(limit, usualWindow)))); err != nil {
		return nil, decodeError(Zstd, err)
	}
	out, err := decoder.DecodeAll(src, dst[:0])
	if len(out) > limit || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, decodeError(Zstd, ErrDecompressedSize)
	}
	if err == nil && len(src) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return out, decodeError(Zstd, err)
}

// readLimited reads all of r. A new buffer starts at four times the compressed size, a common ratio,
// and doubles, so that a bomb costs no more than twice of what it has delivered.
func readLimited(r io.Reader, dst []byte, compressed, limit int) ([]byte, error) {
	out := dst[:0]
	if size := min(max(4*compressed, minBuffer), limit) + 1; cap(out) < size {
		out = make([]byte, 0, size)
	}
	for {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if len(out) > limit {
			return nil, ErrDecompressedSize
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(2*cap(out), limit+1))
			copy(grown, out)
			out = grown
		}
	}
}

// decodeError names the codec. What a codec library reports is [ErrMalformed] to us.
func decodeError(codec Compression, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDecompressedSize), errors.Is(err, ErrMalformed):
		return fmt.Errorf("decompress %v: %w", codec, err)
	}
	return fmt.Errorf("decompress %v: %w (%w)", codec, ErrMalformed, err)
}
