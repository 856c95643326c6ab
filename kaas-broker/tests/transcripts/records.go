package transcripts

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// recordLines writes down a record set as fetched, one line for each batch or old message. What ends in the middle of a batch is told as partial.
func (m *masks) recordLines(set []byte, path, topic string) []Line {
	var lines []Line
	for i := 0; len(set) > 0; i++ {
		line := Line{Path: fmt.Sprintf("%s[%d]", path, i)}
		size := entrySize(set)
		switch {
		case size == 0:
			line.Fields = []Field{{"partial", "true"}}
			size = len(set)
		case set[magicAt] == 2:
			line.Fields = m.batchFields(set[:size], topic)
		default:
			line.Fields = messageFields(set[:size])
		}
		lines = append(lines, line)
		set = set[size:]
	}
	return lines
}

// Where the formats keep what is common to them.
const (
	lengthAt  = 8
	prefix    = 12
	magicAt   = 16
	leastSize = 26 // of a message of format v0
)

// entrySize is the size of the first batch or message, 0 when it is not there as a whole.
func entrySize(set []byte) int {
	if len(set) < leastSize {
		return 0
	}
	size := prefix + int(int32(binary.BigEndian.Uint32(set[lengthAt:])))
	if size < leastSize || size > len(set) || set[magicAt] == 2 && size < batch.HeaderSize {
		return 0
	}
	return size
}

func (m *masks) batchFields(bytes []byte, topic string) []Field {
	b := batch.Batch(bytes)
	fields := []Field{
		{"offsets", fmt.Sprintf("%d-%d", b.BaseOffset(), b.LastOffset())},
		{"LeaderEpoch", m.epoch(b.LeaderEpoch(), topic)},
		{"attributes", strconv.Itoa(int(b.Attributes()))},
		{"baseTime", timeText(b.BaseTimestamp())},
		{"maxTime", timeText(b.MaxTimestamp())},
	}
	if b.ProducerID() >= 0 {
		fields = append(fields, Field{"producer", fmt.Sprintf("%s/%d", m.producer(b.ProducerID()), b.ProducerEpoch())}, Field{"sequence", strconv.Itoa(int(b.BaseSequence()))})
	}
	if !b.ValidCRC() {
		fields = append(fields, Field{"crc", "wrong"})
	}
	if marker, ends, err := b.Marker(nil); err == nil && ends {
		return append(fields, Field{"commits", strconv.FormatBool(marker.Commit)}) // its epoch is the broker's own affair
	}
	var records []string
	for record, err := range b.Records(nil, batch.SiteTool, 0) {
		if err != nil {
			records = append(records, "unreadable")
			break
		}
		text := fmt.Sprintf("+%d", record.OffsetDelta)
		if record.TimestampDelta != 0 {
			text += fmt.Sprintf("@%+d", record.TimestampDelta)
		}
		text += " " + bytesText(record.Key) + "=" + bytesText(record.Value)
		for _, header := range record.Headers {
			text += " " + header.Key + ":" + bytesText(header.Value)
		}
		records = append(records, text)
	}
	return append(fields, Field{"records", "[" + strings.Join(records, ", ") + "]"})
}

// messageFields tells of one message of format v0 or v1. Compressed ones are told by their codec alone.
func messageFields(message []byte) []Field {
	magic, attributes := message[magicAt], message[magicAt+1]
	fields := []Field{
		{"offset", strconv.FormatInt(int64(binary.BigEndian.Uint64(message)), 10)},
		{"magic", strconv.Itoa(int(magic))},
		{"attributes", strconv.Itoa(int(attributes))},
	}
	rest := message[magicAt+2:]
	if magic == 1 && len(rest) >= 8 {
		fields = append(fields, Field{"time", timeText(int64(binary.BigEndian.Uint64(rest)))})
		rest = rest[8:]
	}
	key, rest := prefixed(rest)
	value, _ := prefixed(rest)
	text := bytesText(value)
	if attributes&7 != 0 {
		text = "compressed"
	}
	return append(fields, Field{"record", bytesText(key) + "=" + text})
}

// prefixed takes bytes with a four byte length off b; a negative length is null.
func prefixed(b []byte) (field, rest []byte) {
	if len(b) < 4 {
		return nil, nil
	}
	size := int(int32(binary.BigEndian.Uint32(b)))
	if b = b[4:]; size < 0 || size > len(b) {
		return nil, b
	}
	return b[:size:size], b[size:]
}

// longestValue is how many bytes of a value are shown.
const longestValue = 40

func bytesText(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) > longestValue:
		return strconv.Quote(string(b[:8])) + "…" + strconv.Itoa(len(b))
	default:
		return strconv.Quote(string(b))
	}
}
