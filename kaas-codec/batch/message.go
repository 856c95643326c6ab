package batch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// A message of the formats v0 and v1 is, behind offset and size: CRC-32 (IEEE), magic, attributes,
// in v1 the timestamp, key and value with int32 lengths. The size counts from the CRC on and the CRC covers
// what follows it. Messages stand alone in a set, or in the value of a compressed wrapper.
const (
	messageHeaderSize = 12 // offset and size
	messageCRCSize    = 4
	// minMessageSize is what the size field must hold at least: CRC, magic, attributes, two lengths.
	minMessageSize = 14

	messageTimeBit = 0x08 // v1: the timestamp is the time of the append
)

// message is one decoded message; a wrapper has its inner set as value.
type message struct {
	offset     int64
	magic      int8
	attributes int8
	timestamp  int64 // milliseconds, NoTimestamp in v0
	key, value []byte
	size       int // whole message, offset and size fields included
}

func (m message) compression() Compression { return Compression(m.attributes & compressionMask) }

func (m message) appendTime() bool { return m.magic == 1 && m.attributes&messageTimeBit != 0 }

// nextMessage splits one message off b and verifies its CRC. Errors: [ErrTruncated], [ErrMagic] for
// anything but v0 and v1, [ErrCorrupt] for a wrong CRC or size, [ErrMalformed] for fields that do
// not fill the size.
func nextMessage(b []byte) (message, []byte, error) {
	if len(b) < messageHeaderSize {
		return message{}, nil, fmt.Errorf("read message header of %d bytes: %w", len(b), ErrTruncated)
	}
	size := int32(binary.BigEndian.Uint32(b[lengthAt:]))
	if size < minMessageSize {
		return message{}, nil, fmt.Errorf("read message of size %d: %w", size, ErrCorrupt)
	}
	if int(size) > len(b)-messageHeaderSize {
		return message{}, nil, fmt.Errorf("read message of size %d from %d bytes: %w",
			size, len(b)-messageHeaderSize, ErrTruncated)
	}
	end := messageHeaderSize + int(size)
	m := message{offset: int64(binary.BigEndian.Uint64(b)), magic: magicOf(b), timestamp: NoTimestamp, size: end}
	if m.magic != 0 && m.magic != 1 {
		return message{}, nil, fmt.Errorf("read message of magic %d: %w", m.magic, ErrMagic)
	}
	body := b[messageHeaderSize:end:end]
	if crc := binary.BigEndian.Uint32(body); crc != crc32.ChecksumIEEE(body[messageCRCSize:]) {
		return message{}, nil, fmt.Errorf("read message: stored CRC %08x: %w", crc, ErrCorrupt)
	}
	if err := m.parse(body[messageCRCSize+1:]); err != nil {
		return message{}, nil, err
	}
	return m, b[end:], nil
}

// parse reads what follows the magic.
func (m *message) parse(body []byte) error {
	m.attributes = int8(body[0])
	body = body[1:]
	if m.magic == 1 {
		if len(body) < 8 {
			return fmt.Errorf("read message timestamp: %w", ErrMalformed)
		}
		m.timestamp = int64(binary.BigEndian.Uint64(body))
		body = body[8:]
	}
	var ok bool
	if m.key, body, ok = takeSized(body); !ok {
		return fmt.Errorf("read message key: %w", ErrMalformed)
	}
	if m.value, body, ok = takeSized(body); !ok || len(body) > 0 {
		return fmt.Errorf("read message value: %w", ErrMalformed)
	}
	return nil
}

// takeSized splits a byte string with int32 length off b; a negative length is null and gives nil.
func takeSized(b []byte) (value, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	size, rest := int32(binary.BigEndian.Uint32(b)), b[4:]
	if size < 0 {
		return nil, rest, true
	}
	if int(size) > len(rest) {
		return nil, nil, false
	}
	return rest[:size:size], rest[size:], true
}

// appendMessage appends m with size and CRC computed.
func appendMessage(dst []byte, m message) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.offset))
	dst = append(dst, make([]byte, 4+messageCRCSize)...)
	dst = append(dst, byte(m.magic), byte(m.attributes))
	if m.magic == 1 {
		dst = binary.BigEndian.AppendUint64(dst, uint64(m.timestamp))
	}
	dst = appendSized(dst, m.key)
	dst = appendSized(dst, m.value)
	body := dst[start+messageHeaderSize:]
	binary.BigEndian.PutUint32(dst[start+lengthAt:], uint32(len(body)))
	binary.BigEndian.PutUint32(body, crc32.ChecksumIEEE(body[messageCRCSize:]))
	return dst
}

func appendSized(dst, value []byte) []byte {
	if value == nil {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
}
