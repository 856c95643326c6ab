package batch

import (
	"encoding/binary"
	"fmt"
	"math"
)

// withRecords returns a batch with the header of b and other records, compressed with the codec.
func withRecords(b Batch, records []byte, codec Compression) (Batch, error) {
	out := make(Batch, HeaderSize, HeaderSize+len(records))
	copy(out, b[:HeaderSize])
	out, err := appendCompressed(out, records, codec)
	if err != nil {
		return nil, err
	}
	if len(out) > math.MaxInt32 {
		return nil, fmt.Errorf("encode batch of %d bytes: %w", len(out), ErrTooLarge)
	}
	binary.BigEndian.PutUint32(out[lengthAt:], uint32(len(out)-lengthOverhead))
	attributes := b.Attributes()&^compressionMask | int16(codec)
	binary.BigEndian.PutUint16(out[attributesAt:], uint16(attributes))
	out.seal()
	return out, nil
}
