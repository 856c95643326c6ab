package batch_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func TestDecompresses(t *testing.T) {
	built := func(codec batch.Compression) []byte {
		builder := batch.NewBuilder()
		builder.Compression = codec
		builder.Add(1, []byte("k"), []byte("v"))
		made, err := builder.Build()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	legacy := make([]byte, 40)
	legacy[17] = byte(batch.Gzip)
	for name, c := range map[string]struct {
		records []byte
		rules   func(*batch.Rules)
		want    bool
	}{
		"nothing":                      {nil, func(r *batch.Rules) { r.Compacted = true }, false},
		"too short for a header":       {built(batch.Gzip)[:60], func(r *batch.Rules) { r.Compacted = true }, false},
		"usual":                        {built(batch.Gzip), func(*batch.Rules) {}, false},
		"compacted":                    {built(batch.Gzip), func(r *batch.Rules) { r.Compacted = true }, true},
		"compacted, not compressed":    {built(batch.None), func(r *batch.Rules) { r.Compacted = true }, false},
		"other codec":                  {built(batch.Zstd), func(r *batch.Rules) { r.Compression = batch.Lz4 }, true},
		"same codec":                   {built(batch.Zstd), func(r *batch.Rules) { r.Compression = batch.Zstd }, false},
		"compressed afterwards":        {built(batch.None), func(r *batch.Rules) { r.Compression = batch.Zstd }, false},
		"bounds of time":               {built(batch.Snappy), func(r *batch.Rules) { r.MaxAfter = 1 }, true},
		"old format":                   {legacy, func(r *batch.Rules) { r.Version = 2 }, true},
		"old format that is refused":   {legacy, func(r *batch.Rules) { r.Version = 3 }, false},
		"old format, not compressed":   {make([]byte, 40), func(r *batch.Rules) { r.Version = 2 }, false},
		"a format that does not exist": {append(make([]byte, 16), 9, 1), func(r *batch.Rules) { r.Version = 2 }, false},
	} {
		rules := batch.DefaultRules()
		c.rules(&rules)
		if got := rules.Decompresses(c.records); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
