package batch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// These tests look at message sets, which only this package can read, from inside.

func goldenFile(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "golden", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// messagesOf parses a set; of a wrapper it returns the wrapper without value and the inner messages.
func messagesOf(t *testing.T, set []byte) []message {
	t.Helper()
	var messages []message
	for len(set) > 0 {
		m, rest, err := nextMessage(set)
		if err != nil {
			t.Fatal(err)
		}
		set = rest
		if m.compression() == None {
			messages = append(messages, m)
			continue
		}
		inner, err := unwrap(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		m.value, m.size = nil, 0
		messages = append(append(messages, m), messagesOf(t, inner)...)
	}
	return messages
}

func TestDownConvertMatchesKafka(t *testing.T) {
	for _, codec := range []Compression{None, Gzip, Snappy, Lz4} {
		for _, name := range []string{"v0-%v", "v1-%v", "v1-%v-appendtime"} {
			name := fmt.Sprintf(name, codec)
			t.Run(name, func(t *testing.T) {
				source := goldenFile(t, "down-source-"+name[3:])
				var wires Tripwires
				got, err := DownConvert(source, int8(name[1]-'0'), &wires)
				if err != nil {
					t.Fatal(err)
				}
				want := goldenFile(t, "down-"+name)
				if codec == None && !bytes.Equal(got, want) {
					t.Error("uncompressed set differs from Kafka's")
				}
				gotMessages, wantMessages := messagesOf(t, got), messagesOf(t, want)
				if fmt.Sprintf("%+v", gotMessages) != fmt.Sprintf("%+v", wantMessages) {
					t.Errorf("got  %+v\nwant %+v", gotMessages[:2], wantMessages[:2])
				}
				if counts := wires.Snapshot()[SiteDownConvert]; counts != (Counts{Decoded: 1, Reencoded: 1}) {
					t.Errorf("counted %+v", counts)
				}
			})
		}
	}
}

// Consumers of magic 0 expect the wrong header checksum of old Kafka, those of magic 1 the right one.
func TestDownConvertLz4HeaderChecksum(t *testing.T) {
	source := goldenFile(t, "down-source-lz4")
	for magic := range int8(2) {
		set, err := DownConvert(source, magic, nil)
		if err != nil {
			t.Fatal(err)
		}
		wrapper, _, err := nextMessage(set)
		if err != nil {
			t.Fatal(err)
		}
		_, err = decompress(nil, wrapper.value, Lz4, 0)
		if broken := err != nil; broken != (magic == 0) {
			t.Errorf("magic %d: strict reader says %v", magic, err)
		}
		kafka := goldenFile(t, fmt.Sprintf("down-v%d-lz4", magic))
		theirs, _, err := nextMessage(kafka)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(wrapper.value[:7], theirs.value[:7]) {
			t.Errorf("magic %d: frame header %x, Kafka's %x", magic, wrapper.value[:7], theirs.value[:7])
		}
	}
}

func TestDownConvertLeavesOutControlBatches(t *testing.T) {
	marker, err := NewMarkerBatch(Marker{Commit: true}, 1, 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	data := testBatch(t, None, 2)
	data.SetBaseOffset(8)
	set, err := DownConvert(concat(marker, data, marker), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := messagesOf(t, set); len(got) != 2 || got[0].offset != 8 || got[1].offset != 9 {
		t.Errorf("got %+v", got)
	}
	if set, err = DownConvert(marker, 0, nil); err != nil || len(set) != 0 {
		t.Errorf("marker alone: %x, %v", set, err)
	}
}

func TestDownConvertFromOffset(t *testing.T) {
	plain, wrapped := testBatch(t, None, 5), testBatch(t, Gzip, 5)
	wrapped.SetBaseOffset(5)
	set, err := DownConvertFrom(concat(plain, wrapped), 1, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	var offsets []int64
	for _, m := range messagesOf(t, set) {
		offsets = append(offsets, m.offset)
	}
	// Offsets 3 and 4, then the wrapper at its last offset with five relative ones.
	if got := fmt.Sprint(offsets); got != "[3 4 9 0 1 2 3 4]" {
		t.Errorf("offsets %s", got)
	}
}

// A compacted batch may have lost its first record: magic 1 counts from the first that is left.
func TestDownConvertOfHoles(t *testing.T) {
	builder := NewBuilder()
	builder.Compression = Snappy
	builder.BaseOffset = 100
	builder.AddAt(3, 1, []byte("a"), nil)
	builder.AddAt(7, 2, []byte("b"), nil)
	builder.ExtendTo(9)
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	for magic, want := range []string{"[107 103 107]", "[107 0 4]"} {
		set, err := DownConvert(b, int8(magic), nil)
		if err != nil {
			t.Fatal(err)
		}
		var offsets []int64
		for _, m := range messagesOf(t, set) {
			offsets = append(offsets, m.offset)
		}
		if got := fmt.Sprint(offsets); got != want {
			t.Errorf("magic %d: offsets %s, want %s", magic, got, want)
		}
	}
}

func TestDownConvertErrors(t *testing.T) {
	plain := testBatch(t, None, 2)
	cases := []struct {
		name    string
		batches []byte
		magic   int8
		want    error
	}{
		{"zstd", testBatch(t, Zstd, 2), 1, ErrUnsupportedCompression},
		{"magic 2", plain, 2, ErrUnsupportedFormat},
		{"negative magic", plain, -1, ErrUnsupportedFormat},
		{"cut", plain[:len(plain)-1], 1, ErrTruncated},
		{"not a batch", bytes.Repeat([]byte{7}, 100), 1, ErrMagic},
		{"wrong count", func() []byte { b := bytes.Clone(plain); b[countAt+3]++; return b }(), 1, ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if set, err := DownConvert(c.batches, c.magic, nil); !errors.Is(err, c.want) || set != nil {
				t.Errorf("got %x, %v, want %v", set, err, c.want)
			}
		})
	}
}

func testBatch(t testing.TB, codec Compression, count int) Batch {
	t.Helper()
	builder := NewBuilder()
	builder.Compression = codec
	for i := range count {
		builder.Add(1700000000000+int64(i), fmt.Appendf(nil, "key-%d", i), []byte("value"), Header{Key: "h"})
	}
	b, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func concat(parts ...Batch) []byte {
	var all []byte
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}
