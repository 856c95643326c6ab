package batch

// RecordReader reads the records of one batch after the other without allocating: it reuses the memory
// into which it decompresses. The zero value is ready for [RecordReader.Reset]. It is not safe for
// concurrent use.
type RecordReader struct {
	walker recordWalker
	memory []byte
	count  int32
}

// Reset places the reader before the first record of a batch and counts one decode at the site.
// Errors are those of [Batch.Records], as far as decompression finds them.
func (r *RecordReader) Reset(b Batch, t *Tripwires, site Site, limit Limit) error {
	t.Decoded(site)
	r.walker, r.count = recordWalker{}, 0
	records, err := decompress(r.memory, b.records(), b.Compression(), limit)
	if err != nil {
		return err
	}
	if b.Compression() != None {
		r.memory = records[:0]
	}
	r.count = b.Count()
	r.walker = recordWalker{all: records, left: r.count, rest: records}
	return nil
}

// Rewind places the reader before the first record again.
func (r *RecordReader) Rewind() {
	r.walker = recordWalker{all: r.walker.all, left: r.count, rest: r.walker.all}
}

// Next reads the next record. It is false behind the last one and when [RecordReader.Err] is not nil.
func (r *RecordReader) Next() bool { return r.walker.next() }

// Err returns why the records cannot be read, nil if they can: [ErrMalformed], which covers fewer or
// more records than the header counts.
func (r *RecordReader) Err() error { return r.walker.err }

// Record returns the record that Next has read, without its headers. Key and value alias memory that is
// valid until the next Reset.
func (r *RecordReader) Record() Record { return r.walker.record }

// AppendRecord appends the record that Next has read as it is, headers included, but for its timestamp
// delta.
func (r *RecordReader) AppendRecord(dst []byte, timestampDelta int64) []byte {
	parsed := r.walker.parsedRecord
	parsed.record.TimestampDelta = timestampDelta
	return appendMoved(dst, parsed, parsed.record.OffsetDelta)
}
