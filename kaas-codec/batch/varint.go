package batch

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Varints are zigzag encoded, as in protobuf's sint32 and sint64.

func appendVarint(dst []byte, value int64) []byte { return binary.AppendVarint(dst, value) }

func varintSize(value int64) int {
	zigzag := uint64(value<<1) ^ uint64(value>>63)
	return (bits.Len64(zigzag|1) + 6) / 7
}

// takeVarint splits a varint of up to 64 bits off b; false when b ends inside it or it overflows.
func takeVarint(b []byte) (value int64, rest []byte, ok bool) {
	value, size := binary.Varint(b)
	if size <= 0 {
		return 0, nil, false
	}
	return value, b[size:], true
}

// takeVarint32 splits a varint of at most 32 bits off b.
func takeVarint32(b []byte) (value int32, rest []byte, ok bool) {
	wide, rest, ok := takeVarint(b)
	if !ok || wide < math.MinInt32 || wide > math.MaxInt32 {
		return 0, nil, false
	}
	return int32(wide), rest, true
}
