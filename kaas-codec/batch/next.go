package batch

import (
	"encoding/binary"
	"fmt"
)

// Next splits the first record batch off b and returns it with what follows. It looks at structure
// only: magic 2, a length that holds the header and lies within b, a record count and a last
// offset delta that are not negative. It does not verify the CRC.
//
// Errors: [ErrTruncated] when b ends inside the batch (or is empty), [ErrMagic] for another
// format, [ErrMalformed] for anything else. Both results are nil with an error.
func Next(b []byte) (Batch, []byte, error) {
	batch, rest, err := split(b)
	if err != nil {
		return nil, nil, err
	}
	if batch.Count() < 0 || batch.LastOffsetDelta() < 0 {
		return nil, nil, fmt.Errorf("read batch of %d records and last offset delta %d: %w",
			batch.Count(), batch.LastOffsetDelta(), ErrMalformed)
	}
	return batch, rest, nil
}

// split is [Next] without a look at the counts.
func split(b []byte) (Batch, []byte, error) {
	if len(b) <= magicAt {
		return nil, nil, fmt.Errorf("read batch header of %d bytes: %w", len(b), ErrTruncated)
	}
	if magic := magicOf(b); magic != magicV2 {
		return nil, nil, fmt.Errorf("read batch of magic %d: %w", magic, ErrMagic)
	}
	length := int64(int32(binary.BigEndian.Uint32(b[lengthAt:]))) + lengthOverhead
	if length < HeaderSize {
		return nil, nil, fmt.Errorf("read batch of %d bytes: %w", length, ErrMalformed)
	}
	if length > int64(len(b)) {
		return nil, nil, fmt.Errorf("read %d of %d batch bytes: %w", len(b), length, ErrTruncated)
	}
	return Batch(b[:length:length]), b[length:], nil
}

// magicOf returns the format of the batch or message at the start of b.
func magicOf(b []byte) int8 { return int8(b[magicAt]) }
