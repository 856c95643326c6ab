package batch_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func BenchmarkValidate(b *testing.B) {
	for _, codec := range []batch.Compression{batch.None, batch.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			sent := build(b, codec, 100)
			rules := batch.DefaultRules()
			b.SetBytes(int64(len(sent)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := batch.Validate(sent, rules, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValidateCompacted(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			sent := build(b, codec, 100)
			rules := batch.DefaultRules()
			rules.Compacted = true
			b.SetBytes(int64(len(sent)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := batch.Validate(sent, rules, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	var all []byte
	for range 16 {
		all = append(all, build(b, batch.None, 10)...)
	}
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		for rest := all; len(rest) > 0; {
			var err error
			if _, rest, err = batch.Next(rest); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkStampAppendTime(b *testing.B) {
	stamped := build(b, batch.None, 100)
	b.SetBytes(int64(len(stamped)))
	b.ReportAllocs()
	for b.Loop() {
		stamped.StampAppendTime(1)
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				build(b, codec, 100)
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, codec := range codecs {
		b.Run(codec.String(), func(b *testing.B) {
			built := build(b, codec, 100)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range built.Records(nil, batch.SiteTool, 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
