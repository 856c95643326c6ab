package codec_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// One request as a server sees it: a frame arrives, is decoded and answered.
func Example() {
	request := kmsg.NewPtrApiVersionsRequest()
	request.Version = 3
	request.ClientSoftwareName = "example"
	stream := bytes.NewReader(kmsg.NewRequestFormatter().AppendRequest(nil, request, 42))

	size, err := codec.ReadFrameSize(stream, 100<<20)
	if err != nil {
		log.Fatal(err)
	}
	frame, err := codec.ReadFrameBody(stream, nil, size)
	if err != nil {
		log.Fatal(err)
	}
	header, body, err := codec.ParseRequestHeader(frame)
	if err != nil {
		log.Fatal(err)
	}
	message, err := codec.DecodeRequest(header, body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(header.CorrelationID, message.(*kmsg.ApiVersionsRequest).ClientSoftwareName)

	reply := codec.AppendResponse(nil, header, message.ResponseKind())
	fmt.Println(len(reply), "bytes to send")
	// Output:
	// 42 example
	// 16 bytes to send
}
