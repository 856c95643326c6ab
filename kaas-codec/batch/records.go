package batch

import (
	"fmt"
	"iter"
)

// Limit bounds the bytes that the records of one batch may take uncompressed. Zero and below stand
// for [DefaultLimit].
type Limit int

// DefaultLimit is the [Limit] of callers that set none.
const DefaultLimit Limit = 128 << 20

func (l Limit) bytes() int {
	if l <= 0 {
		return int(DefaultLimit)
	}
	return int(l)
}

// Records ranges over the records of the batch and counts one decode at the site. Keys, values and
// header values alias the batch, or one buffer that was decompressed for this range and may be
// kept. Memory grows with the bytes that come out, never above the limit.
//
// An error is the last thing yielded: [ErrDecompressedSize] above the limit,
// [ErrUnsupportedCompression] for a codec that Kafka does not have, else [ErrMalformed], which
// covers fewer or more records than the header counts.
func (b Batch) Records(t *Tripwires, site Site, limit Limit) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		t.Decoded(site)
		walker, err := b.walk(limit)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for walker.next() {
			record := walker.record
			record.Headers = decodeHeaders(walker.headers, walker.headerCount)
			if !yield(record, nil) {
				return
			}
		}
		if walker.err != nil {
			yield(Record{}, walker.err)
		}
	}
}

// recordWalker parses one record after the other without allocating.
type recordWalker struct {
	parsedRecord
	all  []byte // uncompressed records of the batch
	rest []byte // those not parsed yet
	left int32  // records still to come by the header's count
	err  error
}

// walk decompresses the records if need be and places a walker before the first.
func (b Batch) walk(limit Limit) (recordWalker, error) {
	records, err := decompress(nil, b.records(), b.Compression(), limit)
	if err != nil {
		return recordWalker{}, err
	}
	return recordWalker{all: records, rest: records, left: b.Count()}, nil
}

// next parses the next record; false at the end or with err set.
func (w *recordWalker) next() bool {
	if w.err != nil {
		return false
	}
	if w.left <= 0 {
		if len(w.rest) > 0 {
			w.err = fmt.Errorf("%d bytes behind the last counted record: %w", len(w.rest), ErrMalformed)
		}
		return false
	}
	parsed, rest, err := parseRecord(w.rest)
	if err != nil {
		w.err = fmt.Errorf("%w, %d records from the end", err, w.left)
		return false
	}
	w.parsedRecord, w.rest = parsed, rest
	w.left--
	return true
}
