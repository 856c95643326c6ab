package compaction_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/internal/compaction"
)

const fuzzLimit = 1 << 20

// FuzzCompaction feeds logs whose lengths and CRCs fit, with everything else as the fuzzer likes. Whatever it is, the newest record of each key that can be read stays,
// unless its transaction is aborted, and a second compaction finds nothing to do.
func FuzzCompaction(f *testing.F) {
	for _, codec := range []batch.Compression{batch.None, batch.Gzip, batch.Snappy, batch.Lz4, batch.Zstd} {
		log := lay(f, 0, entry{records: "a=1 b=1 c", codec: codec}, entry{records: "a=2", producer: 7, txn: true}, entry{abort: 7}, entry{records: "=1 a=3", appendTime: true},
			entry{records: "b=4 a=5", producer: 8, txn: true, codec: codec}, entry{commit: 8}, entry{records: "b=6", spoil: unknownCodec})
		f.Add(bytes.Join(toBytes(log), nil), int64(0), int64(1000), uint16(1000))
		f.Add(bytes.Join(toBytes(log), nil), int64(3), int64(9), uint16(0))
	}
	f.Fuzz(func(t *testing.T, content []byte, firstDirty, end int64, mapBytes uint16) {
		log := repaired(content)
		scope := compaction.Scope{
			FirstDirty: firstDirty, End: end, Now: 5000, DeleteRetention: ms(1000), MapBytes: int(mapBytes), Limit: fuzzLimit,
			Aborted: []compaction.Aborted{aborts(7, 3, 4)}, Producers: map[int64]compaction.Producer{8: {LastOffset: 8}},
		}
		once := compact(t, log, scope)
		next := once.plan.NextDirty()
		want, got := newestOf(log, next), newestOf(once.log, next)
		maps.DeleteFunc(want, func(key string, offset int64) bool { return offset < max(firstDirty, 0) })
		for key, offset := range want {
			if got[key] != offset {
				t.Fatalf("the newest record of key %q is at %d, now %d", key, offset, got[key])
			}
		}
		if twice := compact(t, once.log, scope); !bytes.Equal(bytes.Join(toBytes(twice.log), nil), bytes.Join(toBytes(once.log), nil)) && mapBytes == 0xffff {
			t.Fatalf("compacted again: %q, once %q", twice.show(t), once.show(t))
		}
	})
}

func toBytes(log []batch.Batch) [][]byte {
	var all [][]byte
	for _, b := range log {
		all = append(all, b)
	}
	return all
}

// repaired cuts content into batches, gives each a fitting CRC, and moves those that overlap.
func repaired(content []byte) []batch.Batch {
	var log []batch.Batch
	offset := int64(0)
	for rest := bytes.Clone(content); ; {
		var b batch.Batch
		var err error
		if b, rest, err = batch.Next(rest); err != nil {
			return log
		}
		if b.BaseOffset() < offset || b.BaseOffset() > 1<<60 {
			b.SetBaseOffset(offset)
		}
		binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
		log = append(log, b)
		offset = b.LastOffset() + 1
	}
}

// newestOf finds the newest record with a value of each key below the offset, in batches that are sound and no part of the aborted transaction. A key that was deleted last has none.
func newestOf(log []batch.Batch, below int64) map[string]int64 {
	newest := map[string]int64{}
	for _, b := range log {
		if b.Control() || b.Transactional() && b.ProducerID() == 7 || !b.ValidCRC() || !sound(b) {
			continue
		}
		for record := range b.Records(nil, batch.SiteTool, fuzzLimit) {
			offset := b.BaseOffset() + int64(record.OffsetDelta)
			switch {
			case record.Key == nil || offset >= below:
			case record.Value == nil:
				delete(newest, string(record.Key))
			default:
				newest[string(record.Key)] = offset
			}
		}
	}
	return newest
}

func sound(b batch.Batch) bool {
	previous := int32(-1)
	for record, err := range b.Records(nil, batch.SiteTool, fuzzLimit) {
		if err != nil || record.OffsetDelta <= previous || record.OffsetDelta > b.LastOffsetDelta() {
			return false
		}
		previous = record.OffsetDelta
	}
	return true
}
