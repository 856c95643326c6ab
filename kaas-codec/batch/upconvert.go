package batch

import (
	"errors"
	"fmt"
)

// upConvert turns a message set of format v0 or v1 into one v2 batch: either messages side by side,
// or one compressed wrapper, whose codec the batch keeps unless the topic has its own.
func upConvert(set []byte, r Rules, t *Tripwires) (Batch, error) {
	t.Decoded(SiteUpConvert)
	outer, err := outerMessages(set, r)
	if err != nil {
		return nil, err
	}
	messages, codec := outer, outer[0].compression()
	if codec != None {
		if messages, err = innerMessages(outer[0], Limit(r.MaxDecompressed)); err != nil {
			return nil, err
		}
	}
	checker := recordChecker{rules: r}
	builder := NewBuilder()
	builder.Compression = r.codec(codec)
	for index, m := range messages {
		checker.check(int32(index), m.key, m.timestamp, m.appendTime())
		builder.Add(m.timestamp, m.key, m.value)
	}
	if err := checker.err(); err != nil {
		return nil, err
	}
	t.Reencoded(SiteUpConvert)
	batch, err := builder.Build()
	if err != nil {
		return nil, rejectUnreadable(err)
	}
	if len(batch) > r.MaxBytes {
		return nil, tooLarge(len(batch), r)
	}
	return batch, nil
}

// outerMessages parses the set without looking into wrappers. All messages have one format, and a
// wrapper stands alone.
func outerMessages(set []byte, r Rules) ([]message, error) {
	magic := magicOf(set)
	var messages []message
	for rest := set; len(rest) > 0; {
		if len(rest) > magicAt && magicOf(rest) == magicV2 {
			return nil, reject(ErrInvalidRecord, "record batch behind messages of magic %d", magic)
		}
		var m message
		var err error
		if m, rest, err = nextMessage(rest); err != nil {
			return nil, rejectMessage(err)
		}
		if m.size > r.MaxBytes {
			return nil, tooLarge(m.size, r)
		}
		if m.magic != magic {
			return nil, reject(ErrInvalidRecord, "magic %d behind magic %d in one message set", m.magic, magic)
		}
		messages = append(messages, m)
		if m.compression() != None && (len(messages) > 1 || len(rest) > 0) {
			return nil, reject(ErrInvalidRecord, "a compressed message must be the only one of its set")
		}
	}
	return messages, nil
}

// innerMessages decompresses a wrapper. In v1 its timestamp type, and with LogAppendTime its
// timestamp, count for all inner messages. Inner offsets decide nothing here but must make sense
// (in v1 they are relative, and the wrapper has that of the last one, or 0 from old librdkafka).
func innerMessages(wrapper message, limit Limit) ([]message, error) {
	set, err := unwrap(wrapper, limit)
	if err != nil {
		return nil, rejectUnreadable(err)
	}
	var messages []message
	for len(set) > 0 {
		var m message
		if m, set, err = nextMessage(set); err != nil {
			return nil, rejectMessage(err)
		}
		if m.magic != wrapper.magic {
			return nil, reject(ErrInvalidRecord, "magic %d inside a wrapper of magic %d", m.magic, wrapper.magic)
		}
		if m.compression() != None {
			return nil, reject(ErrInvalidRecord, "compressed message inside a compressed message")
		}
		m.attributes = wrapper.attributes & messageTimeBit
		if wrapper.appendTime() {
			m.timestamp = wrapper.timestamp
		}
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return nil, reject(ErrInvalidRecord, "compressed message without inner messages")
	}
	if last := messages[len(messages)-1].offset; wrapper.magic == 1 && wrapper.offset != 0 && wrapper.offset < last {
		return nil, reject(ErrInvalidRecord, "wrapper offset %d is below the last inner offset %d", wrapper.offset, last)
	}
	return messages, nil
}

// unwrap returns the message set in a wrapper's value.
func unwrap(wrapper message, limit Limit) ([]byte, error) {
	codec, value := wrapper.compression(), wrapper.value
	if value == nil {
		return nil, fmt.Errorf("read compressed message without value: %w", ErrMalformed)
	}
	if codec > Lz4 {
		return nil, fmt.Errorf("read message of magic %d in %v: %w", wrapper.magic, codec, ErrUnsupportedCompression)
	}
	if codec == Lz4 && wrapper.magic == 0 {
		value = withRightLz4Checksum(value)
	}
	return decompress(nil, value, codec, limit)
}

func rejectMessage(err error) error {
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrMagic) {
		return reject(ErrCorrupt, "%v", err)
	}
	return reject(ErrInvalidRecord, "%v", err)
}
