package batch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// These tests build message sets, which only this package can write, from inside.

func setOf(messages ...message) []byte {
	var set []byte
	for _, m := range messages {
		set = appendMessage(set, m)
	}
	return set
}

func wrap(t testing.TB, magic int8, codec Compression, inner []byte) message {
	t.Helper()
	value, err := appendCompressed(nil, inner, codec)
	if err != nil {
		t.Fatal(err)
	}
	return message{magic: magic, attributes: int8(codec), timestamp: 5, value: value}
}

// damaged returns a set with one byte changed and, unlike appendMessage, no CRC to fit it.
func damaged(set []byte, at int) []byte {
	set[at] ^= 1
	return set
}

func TestUpConvertSets(t *testing.T) {
	a := message{magic: 1, timestamp: 1, key: []byte("a"), value: []byte("1")}
	old := message{key: []byte("o"), value: []byte("0")}
	short := func(cut int) []byte {
		set := setOf(a)
		return sealMessage(set[:len(set)-cut])
	}
	cases := []struct {
		name string
		set  []byte
		want error
	}{
		{"one", setOf(a), nil},
		{"null key and value", setOf(message{magic: 1}), nil},
		{"first of two damaged", damaged(setOf(a, a), 20), ErrCorrupt},
		{"second of two damaged", damaged(setOf(a, a), len(setOf(a))+20), ErrCorrupt},
		{"value cut within the size", short(1), ErrInvalidRecord},
		{"value length cut within the size", short(3), ErrInvalidRecord},
		{"key cut within the size", short(6), ErrInvalidRecord},
		{"timestamp cut within the size", sealMessage(setOf(message{magic: 1})[:30]), ErrInvalidRecord},
		{"bytes behind the value", sealMessage(append(setOf(a), 0)), ErrInvalidRecord},
		{"wrapper of one", setOf(wrap(t, 1, Gzip, setOf(a))), nil},
		{"wrapper without value", setOf(message{magic: 1, attributes: int8(Gzip)}), ErrInvalidRecord},
		{"wrapper of nothing", setOf(wrap(t, 1, Gzip, nil)), ErrInvalidRecord},
		{"wrapper in a wrapper", setOf(wrap(t, 1, Gzip, setOf(wrap(t, 1, Snappy, setOf(a))))), ErrInvalidRecord},
		{"other magic in a wrapper", setOf(wrap(t, 1, Gzip, setOf(old))), ErrInvalidRecord},
		{"other magic in an old wrapper", setOf(wrap(t, 0, Gzip, setOf(a))), ErrInvalidRecord},
		{"batch in a wrapper", setOf(wrap(t, 1, Gzip, testBatch(t, None, 1))), ErrCorrupt},
		{"damaged in a wrapper", setOf(wrap(t, 1, Lz4, damaged(setOf(a, a), 20))), ErrCorrupt},
		{"cut in a wrapper", setOf(wrap(t, 1, Snappy, setOf(a)[:20])), ErrInvalidRecord},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rules := DefaultRules()
			rules.Version = 2
			b, err := Validate(c.set, rules, nil)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil && (b.Count() != 1 || !b.ValidCRC()) {
				t.Errorf("got %x", []byte(b))
			}
		})
	}
}

// sealMessage makes size and CRC of the only message in b fit its bytes.
func sealMessage(b []byte) []byte {
	binary.BigEndian.PutUint32(b[lengthAt:], uint32(len(b)-messageHeaderSize))
	binary.BigEndian.PutUint32(b[messageHeaderSize:], crc32.ChecksumIEEE(b[messageHeaderSize+messageCRCSize:]))
	return b
}

func TestUpConvertIntoTheTopicsCodec(t *testing.T) {
	for _, source := range []Compression{None, Gzip, Snappy, Lz4} {
		for target := None; target <= Zstd; target++ {
			t.Run(fmt.Sprintf("%v to %v", source, target), func(t *testing.T) {
				rules := DefaultRules()
				rules.Version, rules.Compression = 2, target
				b, err := Validate(goldenFile(t, fmt.Sprintf("v1-%v", source)), rules, nil)
				if err != nil || b.Compression() != target || b.Count() != 40 {
					t.Errorf("codec %v, %d records, %v", b.Compression(), b.Count(), err)
				}
			})
		}
	}
}

// Magic 0 has no timestamp type: the bit that says so in magic 1 means nothing there.
func TestUpConvertIgnoresTimeBitOfMagic0(t *testing.T) {
	rules := DefaultRules()
	rules.Version, rules.AppendTime = 2, true
	old := message{attributes: messageTimeBit, key: []byte("k")}
	if _, err := Validate(setOf(old), rules, nil); err != nil {
		t.Errorf("magic 0: %v", err)
	}
	old.magic = 1
	if _, err := Validate(setOf(old), rules, nil); !errors.Is(err, ErrInvalidTimestamp) {
		t.Errorf("magic 1: %v", err)
	}
}

func TestLz4HeaderChecksum(t *testing.T) {
	for _, size := range []uint64{0, 1000} {
		var frame bytes.Buffer
		writer := lz4.NewWriter(&frame)
		if err := writer.Apply(lz4.SizeOption(size)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(second(writer.Write(make([]byte, 1000))), writer.Close()); err != nil {
			t.Fatal(err)
		}
		at, ok := lz4ChecksumAt(frame.Bytes())
		if want := map[uint64]int{0: 6, 1000: 14}[size]; !ok || at != want {
			t.Fatalf("size %d: checksum at %d, %v", size, at, ok)
		}
		broken := bytes.Clone(frame.Bytes())
		broken[at]++
		if fixed := withRightLz4Checksum(broken); !bytes.Equal(fixed, frame.Bytes()) {
			t.Errorf("size %d: header %x, want %x", size, fixed[:at+1], frame.Bytes()[:at+1])
		}
	}
	for _, other := range []string{"", lz4Magic, lz4Magic + "\x64\x40", "no lz4 frame at all", lz4Magic + "\x6d\x40\x00"} {
		if got := withRightLz4Checksum([]byte(other)); string(got) != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}

func second[T any](_ T, err error) error { return err }
