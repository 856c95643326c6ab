package slot

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// parseWritten reads a key as appendJSON writes it, for replays: nearly every key is one. It reports false for any other form, also another
// one of the same key, which is then read as JSON.
func parseWritten(b []byte) (Key, bool) {
	s := scanner{rest: b}
	s.skip(`{"kind":"`)
	kind, known := parseKind(s.until('"'))
	key := Key{Kind: kind}
	if key.hasID() {
		key.ID = s.text(`,"id":"`)
	}
	if key.hasProducer() {
		key.ProducerID = s.number(`,"producer_id":`, 64)
	}
	if key.hasPartition() {
		key.Topic = s.text(`,"topic":"`)
		key.Partition = int32(s.number(`,"partition":`, 32))
	}
	s.skip(`}`)
	return key, known && !s.failed && len(s.rest) == 0
}

// scanner reads one piece after the other; the first that does not fit spoils all.
type scanner struct {
	rest   []byte
	failed bool
}

func (s *scanner) skip(prefix string) {
	if len(s.rest) < len(prefix) || string(s.rest[:len(prefix)]) != prefix {
		s.failed, s.rest = true, nil
		return
	}
	s.rest = s.rest[len(prefix):]
}

// until reads to the delimiter, which it swallows.
func (s *scanner) until(delimiter byte) string {
	end := bytes.IndexByte(s.rest, delimiter)
	if end < 0 {
		s.failed, s.rest = true, nil
		return ""
	}
	text := string(s.rest[:end])
	s.rest = s.rest[end+1:]
	return text
}

// text reads a string behind a prefix that includes its quote. One that had to be escaped fails.
func (s *scanner) text(prefix string) string {
	s.skip(prefix)
	text := s.until('"')
	if !isPlain(text) {
		s.failed = true
	}
	return text
}

func (s *scanner) number(prefix string, bits int) int64 {
	s.skip(prefix)
	end := 0
	for end < len(s.rest) && (s.rest[end] == '-' || (s.rest[end] >= '0' && s.rest[end] <= '9')) {
		end++
	}
	n, err := strconv.ParseInt(string(s.rest[:end]), 10, bits)
	if err != nil {
		s.failed = true
	}
	s.rest = s.rest[end:]
	return n
}

// isPlain reports whether a string is its own JSON form.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
