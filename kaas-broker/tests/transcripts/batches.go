package transcripts

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// start is the timestamp of the first record that scripts produce, in milliseconds. Their topics keep records of any age.
const start int64 = 1_700_000_000_000

// forever is the setting that keeps them.
const forever = "retention.ms=-1"

// castagnoli is the polynomial of batches of format v2.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// values is a batch of records without keys, one millisecond apart.
func values(texts ...string) []byte {
	return built(batch.NewBuilder(), texts)
}

// valuesAt is a batch of records without keys at one time.
func valuesAt(ms int64, texts ...string) []byte {
	b := batch.NewBuilder()
	for _, text := range texts {
		b.Add(ms, nil, []byte(text))
	}
	return must(b)
}

// compressed is values with a codec.
func compressed(codec batch.Compression, texts ...string) []byte {
	b := batch.NewBuilder()
	b.Compression = codec
	return built(b, texts)
}

// pairs is a batch of records with keys: key, value, key, value.
func pairs(texts ...string) []byte {
	b := batch.NewBuilder()
	for i := 0; i+1 < len(texts); i += 2 {
		b.Add(start+int64(i/2), []byte(texts[i]), []byte(texts[i+1]), batch.Header{Key: "h", Value: []byte("x")})
	}
	return must(b)
}

// idempotent is a batch of a producer with count records.
func idempotent(producer int64, epoch int16, sequence int32, count int) []byte {
	return idempotentAt(start, producer, epoch, sequence, count)
}

// idempotentAt is idempotent with the time of the first record.
func idempotentAt(ms, producer int64, epoch int16, sequence int32, count int) []byte {
	b := batch.NewBuilder()
	b.ProducerID, b.ProducerEpoch, b.BaseSequence = producer, epoch, sequence
	for i := range count {
		b.Add(ms+int64(i), nil, []byte{byte('a' + i%26)})
	}
	return must(b)
}

func built(b *batch.Builder, texts []string) []byte {
	for i, text := range texts {
		b.Add(start+int64(i), nil, []byte(text))
	}
	return must(b)
}

func must(b *batch.Builder) []byte {
	bytes, err := b.Build()
	if err != nil {
		return []byte("no batch: " + err.Error()) // shows in the recording
	}
	return bytes
}

// changed is a copy of a batch with bytes put over those at a place, and a CRC that fits again.
func changed(records []byte, at int, bytes ...byte) []byte {
	b := append([]byte(nil), records...)
	copy(b[at:], bytes)
	binary.BigEndian.PutUint32(b[crcAt:], crc32.Checksum(b[attributesAt:], castagnoli))
	return b
}

// broken is changed without mending the CRC.
func broken(records []byte, at int, bytes ...byte) []byte {
	b := append([]byte(nil), records...)
	copy(b[at:], bytes)
	return b
}

// Where a batch of format v2 keeps its header fields.
const (
	epochAt         = 12
	crcAt           = 17
	attributesAt    = 21
	lastDeltaAt     = 23
	baseTimeAt      = 27
	maxTimeAt       = 35
	producerIDAt    = 43
	producerEpochAt = 51
	baseSequenceAt  = 53
	countAt         = 57
)

func int64Bytes(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

func int32Bytes(v int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

func int16Bytes(v int16) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }

// message0 is one message of format v0.
func message0(offset int64, key, value []byte) []byte {
	m := kmsg.MessageV0{Offset: offset, Key: key, Value: value}
	return sealed(m.AppendTo(nil))
}

// message1 is one message of format v1.
func message1(offset, ms int64, attributes int8, key, value []byte) []byte {
	m := kmsg.MessageV1{Offset: offset, Magic: 1, Attributes: attributes, Timestamp: ms, Key: key, Value: value}
	return sealed(m.AppendTo(nil))
}

// sealed fills in the size and the CRC of an old message.
func sealed(message []byte) []byte {
	binary.BigEndian.PutUint32(message[lengthAt:], uint32(len(message)-prefix))
	binary.BigEndian.PutUint32(message[prefix:], crc32.ChecksumIEEE(message[magicAt:]))
	return message
}

// joined is several batches or messages as one record set.
func joined(parts ...[]byte) []byte {
	var set []byte
	for _, part := range parts {
		set = append(set, part...)
	}
	return set
}
