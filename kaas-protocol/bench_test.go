package protocol_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// exchangeLoop sends one request and reads its response, over and over.
func exchangeLoop(b *testing.B, c *client, request []byte, response int) {
	b.Helper()
	buffer := make([]byte, response)
	for b.Loop() {
		if _, err := c.conn.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c.conn, buffer); err != nil {
			b.Fatal(err)
		}
	}
}

// responseSize asks once, to know how many bytes the answer has.
func responseSize(c *client, request []byte) int {
	c.write(request)
	_, body := c.receive()
	return len(body) + 8
}

func BenchmarkDispatchRoundTrip(b *testing.B) {
	b.ReportAllocs()
	client := dial(b, serve(b, protocol.Config{APIs: []protocol.API{metadata()}}))
	request := frame(metadataRequest(), 1)
	exchangeLoop(b, client, request, responseSize(client, request))
}

func BenchmarkDispatchPipelined(b *testing.B) {
	b.ReportAllocs()
	client := dial(b, serve(b, protocol.Config{APIs: []protocol.API{produce(nil)}}))
	const depth = 5
	one := frame(produceRequest(-1, 1000), 1)
	size := responseSize(client, one)
	var requests []byte
	for range depth {
		requests = append(requests, one...)
	}
	exchangeLoop(b, client, requests, depth*size)
}

func BenchmarkProduce1MiB(b *testing.B) {
	b.ReportAllocs()
	client := dial(b, serve(b, protocol.Config{APIs: []protocol.API{produce(nil)}}))
	request := frame(produceRequest(-1, 1<<20-200), 1)
	b.SetBytes(int64(len(request)))
	exchangeLoop(b, client, request, responseSize(client, request))
}

func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20} {
		for kind, s := range map[string]*section{"file": fileSection(b, random(size)), "memory": memorySection(random(size))} {
			b.Run(fmt.Sprintf("%s/%dKiB", kind, size>>10), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				api := protocol.API{Key: 1, Pipelined: true, Start: func(context.Context, *protocol.Request) protocol.FinishFunc {
					return func(context.Context) (protocol.Reply, error) { return fetchAnswer(s), nil }
				}}
				client := dial(b, serve(b, protocol.Config{APIs: []protocol.API{api}}))
				request := frame(fetchRequest(), 1)
				exchangeLoop(b, client, request, responseSize(client, request))
			})
		}
	}
}
