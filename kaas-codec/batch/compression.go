package batch

import (
	"fmt"
	"strconv"
)

// Compression is the codec of a batch's records, numbered as in the batch attributes.
type Compression int8

// The codecs of Kafka.
const (
	None   Compression = 0
	Gzip   Compression = 1
	Snappy Compression = 2
	Lz4    Compression = 3
	Zstd   Compression = 4

	// KeepCompression stands for the topic setting `compression.type=producer`.
	KeepCompression Compression = -1
)

// String returns the codec's name in Kafka's `compression.type`.
func (c Compression) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case Lz4:
		return "lz4"
	case Zstd:
		return "zstd"
	case KeepCompression:
		return "producer"
	}
	return "unknown(" + strconv.Itoa(int(c)) + ")"
}

// ParseCompression returns the codec of a `compression.type` value. "uncompressed" is [None],
// "producer" is [KeepCompression]. Names are exact, as in Kafka; any other is
// [ErrUnsupportedCompression].
func ParseCompression(name string) (Compression, error) {
	if name == "uncompressed" {
		return None, nil
	}
	for c := KeepCompression; c <= Zstd; c++ {
		if c.String() == name {
			return c, nil
		}
	}
	return None, fmt.Errorf("parse compression %q: %w", name, ErrUnsupportedCompression)
}

func (c Compression) known() bool { return c >= None && c <= Zstd }
