package codec_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/kaas-rs/kaas/kaas-codec"
)

func TestReadFrameSize(t *testing.T) {
	const limit = 100 << 20
	cases := []struct {
		name   string
		stream string
		size   int
		want   error
	}{
		{"smallest", "\x00\x00\x00\x01", 1, nil},
		{"limit", "\x06\x40\x00\x00", limit, nil},
		{"above the limit", "\x06\x40\x00\x01", 0, codec.ErrFrameSize},
		{"zero", "\x00\x00\x00\x00", 0, codec.ErrFrameSize},
		{"negative", "\xff\xff\xff\xff", 0, codec.ErrFrameSize},
		{"an HTTP request", "GET / HTTP/1.1\r\n", 0, codec.ErrFrameSize},
		{"nothing", "", 0, io.EOF},
		{"part of the prefix", "\x00\x00", 0, io.ErrUnexpectedEOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			size, err := codec.ReadFrameSize(iotest.OneByteReader(strings.NewReader(c.stream)), limit)
			if size != c.size || !errors.Is(err, c.want) {
				t.Errorf("got %d, %v; want %d, %v", size, err, c.size, c.want)
			}
		})
	}
}

func TestFrameSizeErrorTellsSizeAndLimit(t *testing.T) {
	_, err := codec.ReadFrameSize(strings.NewReader("GET "), 1000)
	var sizeError *codec.FrameSizeError
	if !errors.As(err, &sizeError) || sizeError.Size != 1195725856 || sizeError.Limit != 1000 {
		t.Errorf("got %v", err)
	}
}

func TestReadFrameBody(t *testing.T) {
	payload := bytes.Repeat([]byte("0123456789abcdef"), 50_000) // 800 KB
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 300_000, len(payload)} {
		for name, dst := range map[string][]byte{"no buffer": nil, "small buffer": make([]byte, 10, 100), "large buffer": make([]byte, 0, 1<<20)} {
			stream := bytes.NewReader(payload)
			body, err := codec.ReadFrameBody(iotest.HalfReader(stream), dst, size)
			if err != nil || !bytes.Equal(body, payload[:size]) {
				t.Errorf("%s, size %d: %d bytes, %v", name, size, len(body), err)
			}
			if stream.Len() != len(payload)-size {
				t.Errorf("%s, size %d: read %d bytes beyond the frame", name, size, len(payload)-size-stream.Len())
			}
			if cap(dst) >= size && size > 0 && &body[:1][0] != &dst[:1][0] {
				t.Errorf("%s, size %d: the buffer was not used", name, size)
			}
		}
	}
}

func TestReadFrameBodyThatEndsEarly(t *testing.T) {
	for _, arrived := range []int{0, 5, 64 << 10, 200_000} {
		body, err := codec.ReadFrameBody(bytes.NewReader(make([]byte, arrived)), nil, 1<<20)
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(body) != arrived {
			t.Errorf("%d arrived: got %d bytes, %v", arrived, len(body), err)
		}
	}
	broken := errors.New("connection reset")
	if _, err := codec.ReadFrameBody(iotest.ErrReader(broken), nil, 10); !errors.Is(err, broken) {
		t.Errorf("got %v, want the reader's error", err)
	}
	if _, err := codec.ReadFrameBody(strings.NewReader(""), nil, -1); !errors.Is(err, codec.ErrFrameSize) {
		t.Errorf("negative size: %v", err)
	}
}

func TestReadFrameBodyGrowsAsBytesArrive(t *testing.T) {
	for _, arrived := range []int{0, 100_000, 1 << 20} {
		stream := bytes.NewReader(make([]byte, arrived))
		spent := allocated(func() { _, _ = codec.ReadFrameBody(stream, nil, math.MaxInt32) })
		// Every buffer of a series that grows fourfold, the last of which is not yet full.
		if limit := uint64(128<<10 + 6*arrived); spent > limit {
			t.Errorf("%d of 2 GiB arrived: %d bytes allocated", arrived, spent)
		}
	}
}
