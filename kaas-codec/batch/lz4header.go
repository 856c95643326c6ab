package batch

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Kafka's first lz4 frames, in messages of magic 0, carry a header checksum computed over the frame
// magic too, where the frame format wants the descriptor alone (KAFKA-3160). Kafka ignores the
// checksum when it reads magic 0 and keeps writing the wrong one there for old consumers.

const (
	lz4Magic          = "\x04\x22\x4d\x18"
	lz4ContentSizeBit = 0x08
	lz4DictionaryBit  = 0x01
)

// lz4ChecksumAt returns the position of a frame's header checksum.
func lz4ChecksumAt(frame []byte) (int, bool) {
	if !bytes.HasPrefix(frame, []byte(lz4Magic)) || len(frame) < len(lz4Magic)+3 {
		return 0, false
	}
	flags := frame[len(lz4Magic)]
	at := len(lz4Magic) + 2
	if flags&lz4ContentSizeBit != 0 {
		at += 8
	}
	if flags&lz4DictionaryBit != 0 {
		at += 4
	}
	return at, at < len(frame)
}

// withRightLz4Checksum returns a copy of the frame with the checksum that the format wants.
func withRightLz4Checksum(frame []byte) []byte {
	at, ok := lz4ChecksumAt(frame)
	if !ok {
		return frame
	}
	fixed := bytes.Clone(frame)
	fixed[at] = lz4HeaderChecksum(frame[len(lz4Magic):at])
	return fixed
}

// breakLz4Checksum overwrites the checksum with the one of old Kafka.
func breakLz4Checksum(frame []byte) {
	if at, ok := lz4ChecksumAt(frame); ok {
		frame[at] = lz4HeaderChecksum(frame[:at])
	}
}

// lz4HeaderChecksum is the second byte of the header's xxHash32.
func lz4HeaderChecksum(header []byte) byte { return byte(xxHash32(header) >> 8) }

// xxHash32 primes.
const (
	xxPrime1 uint32 = 0x9E3779B1
	xxPrime2 uint32 = 0x85EBCA77
	xxPrime3 uint32 = 0xC2B2AE3D
	xxPrime4 uint32 = 0x27D4EB2F
	xxPrime5 uint32 = 0x165667B1
)

// xxHash32 hashes fewer than 16 bytes with seed 0. A frame descriptor has at most 14, and what Kafka
// writes has 6 with the magic, so that the four lanes of longer inputs are not needed.
func xxHash32(b []byte) uint32 {
	hash := xxPrime5 + uint32(len(b))
	for ; len(b) >= 4; b = b[4:] {
		hash = bits.RotateLeft32(hash+binary.LittleEndian.Uint32(b)*xxPrime3, 17) * xxPrime4
	}
	for _, c := range b {
		hash = bits.RotateLeft32(hash+uint32(c)*xxPrime5, 11) * xxPrime1
	}
	hash = (hash ^ hash>>15) * xxPrime2
	hash = (hash ^ hash>>13) * xxPrime3
	return hash ^ hash>>16
}
