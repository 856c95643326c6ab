package codec_test

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

func BenchmarkReadFrame(b *testing.B) {
	stream := append([]byte{0, 1, 0, 0}, make([]byte, 1<<16)...)
	reader := bytes.NewReader(stream)
	var buffer []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		reader.Reset(stream)
		size, err := codec.ReadFrameSize(reader, 1<<20)
		if err != nil {
			b.Fatal(err)
		}
		if buffer, err = codec.ReadFrameBody(reader, buffer, size); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeProduce(b *testing.B) {
	for _, c := range []struct {
		name       string
		version    int16
		partitions int
	}{{"v3/1 partition", 3, 1}, {"v10/1 partition", 10, 1}, {"v10/100 partitions", 10, 100}} {
		b.Run(c.name, func(b *testing.B) {
			request := kmsg.NewPtrProduceRequest()
			if err := decodeInto(request, c.version, c.partitions); err != nil {
				b.Fatal(err)
			}
			frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("producer-1")).AppendRequest(nil, request, 1)[4:]
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				h, body, err := codec.ParseRequestHeader(frame)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := codec.DecodeRequest(h, body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func decodeInto(request *kmsg.ProduceRequest, version int16, partitions int) error {
	request.Version = version
	return request.ReadFrom(produceBody(version, partitions, 16<<10))
}

func BenchmarkAppendProduceResponse(b *testing.B) {
	response := produceResponse(10)
	header := codec.RequestHeader{Version: 10, CorrelationID: 1}
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = codec.AppendResponse(buffer[:0], header, response)
	}
}

func BenchmarkAppendFetchResponse(b *testing.B) {
	for _, c := range []struct {
		name       string
		partitions int
	}{{"1 partition", 1}, {"100 partitions", 100}} {
		b.Run(c.name, func(b *testing.B) {
			response := fetchResponse(16, c.partitions)
			header := codec.RequestHeader{Key: 1, Version: 16, CorrelationID: 1}
			size := func(int, int) int { return 64 << 10 }
			var buffer []byte
			b.ReportAllocs()
			for b.Loop() {
				buffer, _ = codec.AppendFetchResponse(buffer[:0], header, response, size)
			}
		})
	}
}
