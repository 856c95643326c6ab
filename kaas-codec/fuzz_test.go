package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// Whatever arrives in a frame: no panic, only the documented errors, no memory
// beyond the bound, and what is accepted can be written and read again.
func FuzzRequest(f *testing.F) {
	for _, message := range goldenMessages(f) {
		if message.request {
			f.Add(message.frame)
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, body, err := codec.ParseRequestHeader(frame)
		if err != nil {
			if !errors.Is(err, codec.ErrMalformed) && !errors.Is(err, codec.ErrUnknownKey) {
				t.Fatalf("undocumented error %v", err)
			}
			return
		}
		request, err := codec.DecodeRequest(h, body)
		if err != nil {
			if !errors.Is(err, codec.ErrMalformed) && !errors.Is(err, codec.ErrUnsupportedVersion) && !errors.Is(err, codec.ErrNoSchema) {
				t.Fatalf("undocumented error %v", err)
			}
			return
		}
		encoded := request.AppendTo(nil)
		again, err := codec.DecodeRequest(h, encoded)
		if err != nil {
			t.Fatalf("%x was accepted, its encoding %x is not: %v", body, encoded, err)
		}
		if !bytes.Equal(again.AppendTo(nil), encoded) {
			t.Fatalf("%x does not stay the same", encoded)
		}
	})
}

// Whatever a stream holds, reading a frame takes no more than it has.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc"), 100)
	f.Add([]byte("\x7f\xff\xff\xffabc"), 1<<31-1)
	f.Add([]byte("GET / HTTP/1.1\r\n"), 100<<20)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		reader := bytes.NewReader(stream)
		size, err := codec.ReadFrameSize(reader, limit)
		if err != nil {
			return
		}
		if size < 1 || size > limit {
			t.Fatalf("size %d, limit %d", size, limit)
		}
		body, err := codec.ReadFrameBody(reader, nil, size)
		if err == nil && len(body) != size || err != nil && len(body) != len(stream)-4 {
			t.Fatalf("%d bytes, size %d: %v", len(body), size, err)
		}
		if cap(body) > 2*len(stream)+64<<10 {
			t.Fatalf("capacity %d for %d bytes", cap(body), len(stream))
		}
	})
}
