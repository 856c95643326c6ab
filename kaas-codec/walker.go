package codec

import (
	"encoding/binary"
	"math"
)

const (
	// maxTagSize bounds one tagged field. Kafka has no such bound; the largest
	// that it defines in a request is far smaller.
	maxTagSize = 128 << 10
	// maxText is what a 16-bit length can say. Kafka refuses compact strings
	// above it too.
	maxText = math.MaxInt16

	// Decoding may take budgetPerByte times the body and budgetBase besides.
	// The densest honest requests (many topics with short names) need about ten
	// times their size, so the base exists for small ones only.
	budgetPerByte = 16
	budgetBase    = 256 << 10
	// headerBudget is for the tagged fields of a header, which are not kept.
	headerBudget = 1 << 30
	// tagCost is what one unknown tagged field takes at most: kmsg keeps those
	// of a structure in a map, and a map of one entry takes 336 bytes.
	tagCost = 384
)

// walker reads a request body along a schema without keeping anything. After
// the first violation bad holds the reason, rest is empty, and every method
// returns zero values.
type walker struct {
	rest     []byte
	version  int16
	flexible bool
	// budget is the memory, in bytes, that decoding may still take.
	budget int64
	bad    string
}

// record walks one structure: its fields in order, then its tagged fields.
func (w *walker) record(fields []field) {
	for i := range fields {
		if f := &fields[i]; !f.tagged && f.in(w.version) {
			w.field(f)
		}
		if w.bad != "" {
			return
		}
	}
	if w.flexible {
		w.tags(fields)
	}
}

func (w *walker) field(f *field) {
	w.value(f)
	if w.bad != "" && f.name != "" {
		w.bad = f.name + ": " + w.bad
	}
}

func (w *walker) value(f *field) {
	switch f.kind {
	case text:
		w.text(f)
	case data:
		w.data(f)
	case list, values:
		w.array(f)
	case object:
		w.object(f)
	default:
		w.take(f.kind.size())
	}
}

func (w *walker) text(f *field) {
	value, present := w.nullableText()
	if !present {
		w.null(f)
	}
	// kmsg copies strings, and keeps nullable ones behind a pointer.
	w.spend(int64(len(value)))
}

// nullableText returns the bytes of a string, and false for null. Any negative
// 16-bit length is null, as Kafka reads it.
func (w *walker) nullableText() ([]byte, bool) {
	var length int
	if w.flexible {
		length = int(w.uvarint()) - 1
	} else {
		length = int(int16(w.integer(2)))
	}
	if length < 0 {
		return nil, false
	}
	if length > maxText {
		w.fail("string longer than 32767 bytes")
		return nil, true
	}
	return w.take(length), true
}

func (w *walker) data(f *field) {
	length := w.length()
	if length < 0 {
		w.null(f)
		return
	}
	w.take(length)
}

// array walks a list of records or of plain values. What the elements need at
// least, on the wire and in memory, is checked before the first is looked at.
func (w *walker) array(f *field) {
	count := w.length()
	if count < 0 {
		w.null(f)
		return
	}
	least := minimum(f, w.version, w.flexible)
	if int64(count)*int64(least) > int64(len(w.rest)) {
		w.fail("more elements than the remaining bytes can hold")
		return
	}
	w.spend(int64(count) * cost(f.of))
	if f.kind == values && f.of[0].kind.size() > 0 {
		w.take(count * least)
		return
	}
	for ; count > 0 && w.bad == ""; count-- {
		if f.kind == values {
			w.field(&f.of[0])
		} else {
			w.record(f.of)
		}
	}
}

// object walks a structure that may be absent, which a negative byte says.
func (w *walker) object(f *field) {
	present := int8(w.integer(1))
	switch {
	case w.bad != "" || present == -1:
	case present < -1:
		// Kafka takes any negative byte for null, kmsg this one only.
		w.fail("absent structure not written as -1")
	default:
		w.spend(cost(f.of))
		w.record(f.of)
	}
}

// tags walks a tag buffer. Known tags must hold exactly what they say. Unknown
// ones are skipped, whatever their order and number.
func (w *walker) tags(fields []field) {
	count := w.uvarint()
	if count > math.MaxInt32 {
		// Kafka takes this for a negative number, and so for no tags at all.
		w.fail("tag count above 31 bits")
	}
	for ; count > 0 && w.bad == ""; count-- {
		tag, size := w.uvarint(), w.uvarint()
		if size > maxTagSize {
			w.fail("tagged field longer than 131072 bytes")
			return
		}
		known := taggedField(fields, tag)
		if known == nil {
			w.take(int(size))
			w.spend(tagCost)
			continue
		}
		if int(size) > len(w.rest) {
			w.fail("tagged field " + known.name + ": ends early")
			return
		}
		w.tag(known, w.take(int(size)))
	}
}

// tag walks the content of a known tagged field. Kafka's classes do not look at
// its size; kmsg reads within it, so both must say the same.
func (w *walker) tag(f *field, content []byte) {
	if !f.in(w.version) {
		w.fail("tagged field " + f.name + ": not of this version")
		return
	}
	inner := walker{rest: content, version: w.version, flexible: w.flexible, budget: w.budget}
	if f.kind == object {
		inner.record(f.of)
	} else {
		inner.value(f)
	}
	if inner.bad == "" && len(inner.rest) > 0 {
		inner.fail("longer than its content")
	}
	w.budget = inner.budget
	if inner.bad != "" {
		w.fail("tagged field " + f.name + ": " + inner.bad)
	}
}

// length reads the length of bytes or the count of an array: -1 for null.
func (w *walker) length() int {
	if w.flexible {
		return int(w.uvarint()) - 1
	}
	return max(-1, int(int32(w.integer(4))))
}

func (w *walker) null(f *field) {
	if w.bad == "" && (!f.null || w.version < f.nullSince) {
		w.fail("null or a negative length where a value is required")
	}
}

// integer reads size bytes, at most 8, as an unsigned big-endian number.
func (w *walker) integer(size int) uint64 {
	var padded [8]byte
	copy(padded[8-size:], w.take(size))
	return binary.BigEndian.Uint64(padded[:])
}

func (w *walker) uvarint() uint32 {
	var value uint64
	for shift := 0; shift < 35; shift += 7 {
		next := w.take(1)
		if next == nil {
			return 0
		}
		value |= uint64(next[0]&0x7f) << shift
		if next[0] < 0x80 {
			if value > math.MaxUint32 {
				break
			}
			return uint32(value)
		}
	}
	w.fail("variable-length number above 32 bits")
	return 0
}

// take returns the next n bytes, nil after a violation.
func (w *walker) take(n int) []byte {
	if w.bad != "" {
		return nil
	}
	if n > len(w.rest) {
		w.fail("ends early")
		return nil
	}
	taken := w.rest[:n:n]
	w.rest = w.rest[n:]
	return taken
}

func (w *walker) spend(bytes int64) {
	if w.bad != "" {
		return
	}
	if w.budget -= bytes; w.budget < 0 {
		w.fail("would take too many times its size in memory")
	}
}

func (w *walker) fail(reason string) {
	if w.bad == "" {
		w.bad = reason
		w.rest = nil
	}
}
