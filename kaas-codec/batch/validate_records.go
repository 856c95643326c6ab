package batch

import "errors"

// validateRecords decodes the records once, checks what the rules ask of them and corrects the
// batch where Kafka would.
func validateRecords(batch Batch, r Rules, t *Tripwires, site Site) (Batch, error) {
	t.Decoded(site)
	walker, err := batch.walk(Limit(r.MaxDecompressed))
	if err != nil {
		return nil, rejectUnreadable(err)
	}
	records := walker.all
	checker := recordChecker{rules: r}
	largest, counting := NoTimestamp, true
	for index := int32(0); walker.next(); index++ {
		timestamp := batch.BaseTimestamp() + walker.record.TimestampDelta
		checker.check(index, walker.record.Key, timestamp, false)
		largest = max(largest, timestamp)
		counting = counting && walker.record.OffsetDelta == index
	}
	if walker.err != nil {
		return nil, rejectUnreadable(walker.err)
	}
	if err := checker.err(); err != nil {
		return nil, err
	}
	if !counting {
		records = recount(batch, records)
	}
	return correct(batch, records, r, t, correction{
		site: site, maxTimestamp: largest, recounted: !counting,
	})
}

// correction is what a decode has found out about a batch.
type correction struct {
	site         Site
	maxTimestamp int64 // milliseconds
	recounted    bool  // the records are others than those of the batch
}

// correct applies a correction, and the topic's codec, to a batch with those records.
func correct(batch Batch, records []byte, r Rules, t *Tripwires, c correction) (Batch, error) {
	if !r.AppendTime && batch.MaxTimestamp() != c.maxTimestamp {
		batch.SetMaxTimestamp(c.maxTimestamp)
	}
	codec := r.codec(batch.Compression())
	if codec == batch.Compression() && !c.recounted {
		return batch, nil
	}
	t.Reencoded(c.site)
	encoded, err := withRecords(batch, records, codec)
	if err != nil {
		return nil, rejectUnreadable(err)
	}
	if len(encoded) > r.MaxBytes {
		return nil, tooLarge(len(encoded), r)
	}
	return encoded, nil
}

// recount gives the records the offset deltas 0, 1, 2, …: some old clients number them wrongly and
// Kafka writes them anew rather than refuse them. The records have been parsed without error.
func recount(batch Batch, records []byte) []byte {
	walker := recordWalker{rest: records, left: batch.Count()}
	out := make([]byte, 0, len(records))
	for index := int32(0); walker.next(); index++ {
		out = appendMoved(out, walker.parsedRecord, index)
	}
	return out
}

// rejectUnreadable translates an iteration error. Kafka fails with an unknown server error where
// bytes cannot be decompressed; sending them again will not help, so the answer is not the
// retriable CORRUPT_MESSAGE.
func rejectUnreadable(err error) error {
	if errors.Is(err, ErrDecompressedSize) || errors.Is(err, ErrTooLarge) {
		return reject(ErrTooLarge, "%v", err)
	}
	return reject(ErrInvalidRecord, "%v", err)
}
