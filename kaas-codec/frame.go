package codec

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// firstRead bounds what is allocated for a frame of which nothing has arrived.
const firstRead = 64 << 10

// ReadFrameSize reads the 4 bytes in front of a frame and returns the number of
// bytes that follow, 1 to limit. A size outside that range is a FrameSizeError:
// the stream cannot be read any further. The error is io.EOF only when nothing
// was read, and io.ErrUnexpectedEOF when the stream ended within the prefix.
func ReadFrameSize(r io.Reader, limit int) (int, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return 0, err
	}
	size := int32(binary.BigEndian.Uint32(prefix[:]))
	if size <= 0 || int64(size) > int64(limit) {
		return 0, &FrameSizeError{Size: size, Limit: limit}
	}
	return int(size), nil
}

// ReadFrameBody reads size bytes into the capacity of dst and returns them as a
// slice of length size. Where the capacity is too small it grows as bytes
// arrive: a peer that announces 100 MiB and sends nothing costs 64 KiB. On an
// error it returns what has arrived, so that the buffer is not lost to a pool;
// a stream that ends early is io.ErrUnexpectedEOF.
func ReadFrameBody(r io.Reader, dst []byte, size int) ([]byte, error) {
	if size < 0 || size > math.MaxInt32 {
		return dst[:0], &FrameSizeError{Size: int32(max(size, math.MinInt32)), Limit: math.MaxInt32}
	}
	dst = dst[:0]
	for len(dst) < size {
		if len(dst) == cap(dst) {
			dst = growFrame(dst, size)
		}
		end := min(size, cap(dst))
		n, err := io.ReadFull(r, dst[len(dst):end])
		dst = dst[:len(dst)+n]
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return dst, err
		}
	}
	return dst, nil
}

// roundedTo is the largest capacity that is rounded up to a power of two.
const roundedTo = 2 << 20

// growFrame makes room for four times what has arrived, never for more than size asks for. Moderate capacities are powers of two, so that a pool can
// give the frame to a request of about the same size.
func growFrame(full []byte, size int) []byte {
	capacity := min(size, max(firstRead, 4*len(full)))
	if capacity <= roundedTo {
		capacity = 1 << bits.Len(uint(capacity-1))
	}
	grown := make([]byte, len(full), capacity)
	copy(grown, full)
	return grown
}
