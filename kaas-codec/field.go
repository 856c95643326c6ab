package codec

// kind is how a field is laid out on the wire.
type kind uint8

const (
	int8Field kind = iota // also a boolean
	int16Field
	int32Field
	int64Field
	uuidField
	text   // string, its length in 16 bits or compact
	data   // bytes, their length in 32 bits or compact; never copied
	list   // array of structures
	values // array of one plain field, without tag buffers between
	object // structure that a leading byte may declare absent, or a tagged one
)

// size returns the bytes of a fixed-size kind, 0 for the others.
func (k kind) size() int {
	switch k {
	case int8Field:
		return 1
	case int16Field:
		return 2
	case int32Field:
		return 4
	case int64Field:
		return 8
	case uuidField:
		return 16
	default:
		return 0
	}
}

// field is one line of a schema.
type field struct {
	name string
	kind kind
	// since and before bound the versions that have the field; before is
	// exclusive, and 0 means that no version has dropped it.
	since, before int16
	// null allows null, from version nullSince on.
	null      bool
	nullSince int16
	// tagged fields stand in the tag buffer of a flexible version, under tag.
	tagged bool
	tag    uint32
	// of holds the fields of a list's or an object's structure, or the one
	// field of values.
	of []field
}

func (f *field) in(version int16) bool {
	return version >= f.since && (f.before == 0 || version < f.before)
}

func taggedField(fields []field, tag uint32) *field {
	for i := range fields {
		if f := &fields[i]; f.tagged && f.tag == tag {
			return f
		}
	}
	return nil
}

// minimum returns the fewest bytes that one element of an array takes.
func minimum(array *field, version int16, flexible bool) int {
	total := 0
	for i := range array.of {
		if f := &array.of[i]; !f.tagged && f.in(version) {
			total += minimumField(f, flexible)
		}
	}
	if flexible && array.kind == list {
		total++ // an empty tag buffer
	}
	return total
}

func minimumField(f *field, flexible bool) int {
	switch {
	case f.kind.size() > 0:
		return f.kind.size()
	case flexible || f.kind == object:
		return 1
	case f.kind == text:
		return 2
	default:
		return 4
	}
}

// cost returns about how many bytes the structure takes in memory once decoded,
// without what its strings and arrays refer to. kmsg's structures have room for
// the fields of every version.
func cost(fields []field) int64 {
	total := int64(0)
	for i := range fields {
		f := &fields[i]
		switch {
		case f.kind == text && f.null:
			total += 8 + 16 // pointer and what it points to
		case f.kind == text || f.kind == uuidField:
			total += 16
		case f.kind == object:
			total += 8 + cost(f.of)
		case f.kind.size() > 0:
			total += 8
		default:
			total += 24
		}
	}
	return total + 8 // the map of unknown tags
}
