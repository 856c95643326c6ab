package batch

import (
	"errors"
	"fmt"
)

// definedBits are the attributes that a client may set or that a check of their own refuses. Kafka
// uses one bit more, the delete horizon of compaction, which only a broker may set.
const definedBits = compressionMask | appendTimeBit | transactionalBit | controlBit

// Validate checks the records of one partition of a Produce request as Kafka's ProduceRequest and
// LogValidator do, and returns the one v2 batch to append. Any error is a [*RejectedError].
//
// The usual case, one v2 batch in the topic's codec, costs a look at the header and one CRC: the
// result aliases the argument, nothing is decoded and nothing allocated. Records are decoded only
// for a compacted topic, for timestamp bounds, for a maximum timestamp that the producer left
// unset, for another codec and for the formats v0 and v1; each is counted in t at its site. What a
// decode brings to light (a wrong maximum timestamp, offsets that do not count up) is put right as
// Kafka does. Records that nobody had to decode are not known to be well-formed.
//
// Validate may change attributes, maximum timestamp and CRC of the argument in place. It does not
// stamp the append time: the log does when it knows it.
func Validate(records []byte, r Rules, t *Tripwires) (Batch, error) {
	if len(records) == 0 {
		return nil, reject(ErrInvalidRecord, "no record batch for the partition")
	}
	if len(records) <= magicAt {
		return nil, reject(ErrInvalidRecord, "%d bytes are too few for a record batch", len(records))
	}
	switch magic := magicOf(records); {
	case magic == magicV2:
		return validateBatch(records, r, t)
	case magic < 0 || magic > magicV2:
		return nil, reject(ErrCorrupt, "unknown magic %d", magic)
	case r.Version >= 3:
		return nil, reject(ErrInvalidRecord, "magic %d in Produce v%d, which takes magic 2 only", magic, r.Version)
	}
	return upConvert(records, r, t)
}

func validateBatch(records []byte, r Rules, t *Tripwires) (Batch, error) {
	batch, rest, err := split(records)
	switch {
	case errors.Is(err, ErrTruncated):
		return nil, reject(ErrInvalidRecord, "the record batch is cut short: %v", err)
	case err != nil:
		return nil, reject(ErrCorrupt, "%v", err)
	case r.Version < 7 && batch.Compression() == Zstd:
		return nil, reject(ErrUnsupportedCompression, "zstd needs Produce v7, this is v%d", r.Version)
	case len(rest) > 0:
		return nil, reject(ErrInvalidRecord, "%d bytes behind the only record batch allowed", len(rest))
	}
	if err := checkHeader(batch, r); err != nil {
		return nil, err
	}
	clearForeignBits(batch, r)
	if site, decode := decodeSite(batch, r); decode {
		return validateRecords(batch, r, t, site)
	}
	return batch, nil
}

// checkHeader makes the checks of Kafka that need no record, in Kafka's order.
func checkHeader(batch Batch, r Rules) error {
	switch count := int64(batch.Count()); {
	case batch.BaseOffset() != 0:
		return reject(ErrInvalidRecord, "base offset is %d, must be 0", batch.BaseOffset())
	case len(batch) > r.MaxBytes:
		return tooLarge(len(batch), r)
	case !batch.ValidCRC():
		return reject(ErrCorrupt, "stored CRC %08x does not fit the batch", batch.CRC())
	case count <= 0:
		return reject(ErrInvalidRecord, "record count is %d", count)
	case int64(batch.LastOffsetDelta())+1 != count:
		return reject(ErrInvalidRecord, "%d records but last offset delta %d", count, batch.LastOffsetDelta())
	case batch.Control():
		return reject(ErrInvalidRecord, "clients must not write control records")
	case batch.ProducerID() > NoProducerID && batch.BaseSequence() < 0:
		return reject(ErrInvalidRecord, "sequence number %d with producer id %d", batch.BaseSequence(), batch.ProducerID())
	case !batch.Compression().known():
		return reject(ErrInvalidRecord, "unknown compression %d", batch.Compression())
	case batch.Compression() == None && count*minRecordSize > int64(len(batch.records())):
		return reject(ErrInvalidRecord, "%d records cannot fit %d bytes", count, len(batch.records()))
	case count*minRecordSize > int64(DefaultLimit):
		// Each record takes an offset: with the largest counts two batches of a hundred bytes would fill what a segment's indexes can tell apart.
		return reject(ErrInvalidRecord, "%d records take more than the %d bytes that a batch may become", count, int64(DefaultLimit))
	case batch.AppendTime() && (r.AppendTime || batch.MaxTimestamp() == NoTimestamp):
		return rejectAppendTime(batch)
	}
	return nil
}

// rejectAppendTime refuses a batch that claims append time and leaves no other time to go by. Kafka blames
// each record; the list is no longer than records could fit the bytes uncompressed, so that a
// claimed count costs nothing.
func rejectAppendTime(batch Batch) error {
	rejected := reject(ErrInvalidTimestamp, "%s", appendTimeMessage)
	listed := min(int(batch.Count()), len(batch.records())/minRecordSize, maxRecordErrors)
	for index := range listed {
		rejected.Records = append(rejected.Records, RecordError{Index: int32(index), Message: appendTimeMessage})
	}
	return rejected
}

// clearForeignBits takes back what is not the client's to say: the LogAppendTime bit on a topic with
// CreateTime, and bits without meaning here.
func clearForeignBits(batch Batch, r Rules) {
	keep := int16(definedBits)
	if !r.AppendTime {
		keep &^= appendTimeBit
	}
	if batch.Attributes()&^keep != 0 {
		batch.stamp(batch.Attributes()&keep, batch.MaxTimestamp())
	}
}

// decodeSite tells whether and at which site the records must be looked at. They are at most once.
func decodeSite(batch Batch, r Rules) (Site, bool) {
	switch {
	case r.Compression >= None && r.Compression != batch.Compression():
		return SiteRecompress, true
	case r.Compacted:
		return SiteCompactKeys, true
	case r.bounded():
		return SiteTimestampBounds, true
	case !r.AppendTime && (batch.MaxTimestamp() == NoTimestamp || batch.MaxTimestamp() < batch.BaseTimestamp()):
		return SiteMaxTimestamp, true
	}
	return "", false
}

// Decompresses reports whether [Validate] would decompress these records, which is where memory and time are out of
// proportion to what a client has sent. It looks at a few header fields only, and may be asked of any bytes.
func (r Rules) Decompresses(records []byte) bool {
	const legacyAttributesAt = magicAt + 1
	if len(records) <= legacyAttributesAt {
		return false
	}
	switch magicOf(records) {
	case 0, 1:
		return r.Version < 3 && records[legacyAttributesAt]&compressionMask != 0
	case magicV2:
		if len(records) < HeaderSize || Batch(records).Compression() == None {
			return false
		}
		_, decode := decodeSite(Batch(records), r)
		return decode
	}
	return false
}

func tooLarge(size int, r Rules) error {
	return reject(ErrTooLarge, "the record batch has %d bytes, max.message.bytes is %d", size, r.MaxBytes)
}

func reject(reason error, format string, args ...any) *RejectedError {
	return &RejectedError{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
