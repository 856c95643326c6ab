package batch_test

import (
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func TestParseCompression(t *testing.T) {
	cases := []struct {
		name string
		want batch.Compression
		ok   bool
	}{
		{"producer", batch.KeepCompression, true},
		{"uncompressed", batch.None, true},
		{"none", batch.None, true},
		{"gzip", batch.Gzip, true},
		{"snappy", batch.Snappy, true},
		{"lz4", batch.Lz4, true},
		{"zstd", batch.Zstd, true},
		{"GZIP", batch.None, false},
		{"", batch.None, false},
		{"unknown(5)", batch.None, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := batch.ParseCompression(c.name)
			if got != c.want || (err == nil) != c.ok || !c.ok && !errors.Is(err, batch.ErrUnsupportedCompression) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	if got := batch.Compression(7).String(); got != "unknown(7)" {
		t.Errorf("unknown codec is %q", got)
	}
}
