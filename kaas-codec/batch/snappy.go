package batch

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy/xerial"
)

// A xerial stream (snappy-java's SnappyOutputStream) is a header of magic, version and compatible
// version, then blocks with their length in front. Go and C producers may send one raw block.
const (
	xerialMagic      = "\x82SNAPPY\x00"
	xerialHeaderSize = 16
	xerialLengthSize = 4

	// snappyMaxRatio bounds what a snappy block can grow to: its best element turns 3 bytes into 64.
	snappyMaxRatio = 22
)

func decompressSnappy(dst, src []byte, limit int) ([]byte, error) {
	size, ok := snappySize(src)
	if !ok {
		return nil, decodeError(Snappy, ErrMalformed)
	}
	if size > limit {
		return nil, decodeError(Snappy, ErrDecompressedSize)
	}
	if dst == nil || cap(dst) < size {
		dst = make([]byte, 0, size)
	}
	out, err := xerial.DecodeCapped(dst[:0], src)
	return out, decodeError(Snappy, err)
}

// snappySize adds up the sizes that the blocks claim, and is false when a claim cannot be true.
func snappySize(src []byte) (int, bool) {
	if !bytes.HasPrefix(src, []byte(xerialMagic)) {
		return snappyBlockSize(src)
	}
	if len(src) < xerialHeaderSize {
		return 0, false
	}
	total := 0
	for rest := src[xerialHeaderSize:]; len(rest) > 0; {
		if len(rest) < xerialLengthSize {
			return 0, false
		}
		length := int64(binary.BigEndian.Uint32(rest))
		rest = rest[xerialLengthSize:]
		if length > int64(len(rest)) {
			return 0, false
		}
		size, ok := snappyBlockSize(rest[:length])
		if !ok {
			return 0, false
		}
		total += size
		rest = rest[length:]
	}
	return total, true
}

func snappyBlockSize(block []byte) (int, bool) {
	size, err := s2.DecodedLen(block)
	if err != nil || size > snappyMaxRatio*len(block) {
		return 0, false
	}
	return size, true
}
