package codec_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

func TestParseRequestHeader(t *testing.T) {
	client := func(name string) *string { return &name }
	cases := []struct {
		name  string
		frame string
		want  codec.RequestHeader
		body  string
		err   error
	}{
		{"v1 header", "\x00\x00\x00\x08\x00\x00\x00\x2a\x00\x03appbody", codec.RequestHeader{Version: 8, CorrelationID: 42, ClientID: client("app")}, "body", nil},
		{"v2 header", "\x00\x00\x00\x09\xff\xff\xff\xff\x00\x03app\x00body", codec.RequestHeader{Version: 9, CorrelationID: -1, ClientID: client("app")}, "body", nil},
		{"v2 header with a tag", "\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x01\x05\x02xybody", codec.RequestHeader{Version: 9, CorrelationID: 1, ClientID: client("")}, "body", nil},
		{"null client id", "\x00\x03\x00\x00\x00\x00\x00\x01\xff\xff", codec.RequestHeader{Key: 3, CorrelationID: 1}, "", nil},
		{"client id of length -7530", "\x00\x03\x00\x00\x00\x00\x00\x01\xe2\x96rest", codec.RequestHeader{Key: 3, CorrelationID: 1}, "rest", nil},
		{"ApiVersions above the maximum", "\x00\x12\x00\x63\x00\x00\x00\x01\x00\x01c\x00rest", codec.RequestHeader{Key: 18, Version: 99, CorrelationID: 1, ClientID: client("c")}, "rest", nil},
		{"ApiVersions below zero", "\x00\x12\xff\xff\x00\x00\x00\x01\x00\x01crest", codec.RequestHeader{Key: 18, Version: -1, CorrelationID: 1, ClientID: client("c")}, "rest", nil},
		{"ApiVersions v4 without tag buffer", "\x00\x12\x00\x04\x00\x00\x00\x01\x00\x01c", codec.RequestHeader{Key: 18, Version: 4, CorrelationID: 1, ClientID: client("c")}, "", codec.ErrMalformed},
		{"never flexible", "\x00\x11\x00\x01\x00\x00\x00\x01\x00\x01cx", codec.RequestHeader{Key: 17, Version: 1, CorrelationID: 1, ClientID: client("c")}, "x", nil},
		{"unknown key", "\x00\x07\x00\x03\x00\x00\x00\x09", codec.RequestHeader{Key: 7, Version: 3, CorrelationID: 9}, "", codec.ErrUnknownKey},
		{"key below zero", "\xff\xff\x00\x03\x00\x00\x00\x09", codec.RequestHeader{Key: -1, Version: 3, CorrelationID: 9}, "", codec.ErrUnknownKey},
		{"nothing", "", codec.RequestHeader{}, "", codec.ErrMalformed},
		{"seven bytes", "\x00\x12\x00\x00\x00\x00\x00", codec.RequestHeader{}, "", codec.ErrMalformed},
		{"no client id", "\x00\x03\x00\x00\x00\x00\x00\x01", codec.RequestHeader{Key: 3, CorrelationID: 1}, "", codec.ErrMalformed},
		{"client id longer than the frame", "\x00\x03\x00\x00\x00\x00\x00\x01\x7f\xffabc", codec.RequestHeader{Key: 3, CorrelationID: 1}, "", codec.ErrMalformed},
		{"tag larger than 128 KiB", "\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x01\x05\x81\x80\x08" + strings.Repeat("x", 128<<10+1), codec.RequestHeader{Version: 9, CorrelationID: 1}, "", codec.ErrMalformed},
		{"tag count without tags", "\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\xff\xff\xff\xff\x0f", codec.RequestHeader{Version: 9, CorrelationID: 1}, "", codec.ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h, body, err := codec.ParseRequestHeader([]byte(c.frame))
			if !errors.Is(err, c.err) || string(body) != c.body {
				t.Fatalf("body %q, error %v; want %q, %v", body, err, c.body, c.err)
			}
			if h.Key != c.want.Key || h.Version != c.want.Version || h.CorrelationID != c.want.CorrelationID {
				t.Errorf("got %+v, want %+v", h, c.want)
			}
			if c.err == nil && !equalText(h.ClientID, c.want.ClientID) {
				t.Errorf("client id %v, want %v", h.ClientID, c.want.ClientID)
			}
		})
	}
}

func equalText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// What a client writes, for every key and version.
func TestParseRequestHeaderOfEveryVersion(t *testing.T) {
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID("some client"))
	for _, spec := range codec.Specs() {
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			request := kmsg.RequestForKey(spec.Key)
			request.SetVersion(version)
			frame := formatter.AppendRequest(nil, request, 77)[4:]
			h, body, err := codec.ParseRequestHeader(frame)
			if err != nil || h.Key != spec.Key || h.Version != version || h.CorrelationID != 77 || *h.ClientID != "some client" {
				t.Errorf("%s v%d: %+v, %v", spec.Name, version, h, err)
			}
			if want := request.AppendTo(nil); !bytes.Equal(body, want) {
				t.Errorf("%s v%d: body %x, want %x", spec.Name, version, body, want)
			}
		}
	}
}
