package api_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
)

// large is a batch of so many records of 100 bytes.
func large(t testing.TB, count int) batch.Batch {
	value := bytes.Repeat([]byte("v"), 100)
	builder := batch.NewBuilder()
	for i := range count {
		builder.Add(int64(i), []byte("key"), value)
	}
	b, err := builder.Build()
	must(t, err)
	return b
}

// run passes an already decoded request through its handler.
func (b *bench) run(message kmsg.Request) protocol.Reply {
	header := codec.RequestHeader{Key: message.Key(), Version: message.GetVersion()}
	finish := b.rows[header.Key].Start(context.Background(), &protocol.Request{Header: header, Message: message, Conn: b.conn, Received: time.Now()})
	reply, err := finish(context.Background())
	must(b.t, err)
	for _, sections := range reply.Sections {
		for _, section := range sections {
			if section != nil {
				section.Release()
			}
		}
	}
	return reply
}

func BenchmarkProduce(b *testing.B) {
	for name, count := range map[string]int{"1 record": 1, "1000 records": 1000} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b)
			topic := bench.topic("t", 1, "retention.bytes", "1000000")
			sent := large(b, count)
			data := slices.Clone(sent)
			request := produceRequest(10, 1, "t", 0, data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				copy(data, sent)
				bench.run(request)
				if i%200 == 199 { // memory is small
					b.StopTimer()
					must(b, ignore(bench.partition(topic, 0).DeleteRecords(context.Background(), -1)))
					b.StartTimer()
				}
			}
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	for name, count := range map[string]int{"1 record": 1, "1000 records": 1000} {
		b.Run(name, func(b *testing.B) {
			bench := newBench(b)
			topic := bench.topic("t", 1)
			bench.produce("t", 0, large(b, count))
			request := fetchRequest(12, topic, 0, 0)
			b.SetBytes(int64(len(large(b, count))))
			b.ReportAllocs()
			for b.Loop() {
				bench.run(request)
			}
		})
	}
}

func BenchmarkFetchSession(b *testing.B) {
	bench := newBench(b)
	topic := bench.topic("t", 100)
	request := fetchRequest(12, topic, 0, 0)
	wanted := request.Topics[0].Partitions[0]
	for index := int32(1); index < 100; index++ {
		wanted.Partition = index
		request.Topics[0].Partitions = append(request.Topics[0].Partitions, wanted)
	}
	id := bench.fetch(inSession(request, 0, 0)).SessionID
	bench.write("t", 50, "a")
	epoch := int32(0)
	b.ReportAllocs()
	for b.Loop() {
		epoch++
		bench.run(continued(12, id, epoch))
	}
}

// TestAllocations guards the hot paths: what they allocate does not grow with the records, and stays small.
func TestAllocations(t *testing.T) {
	b := newBench(t)
	topic := b.topic("t", 1)
	measure := func(request kmsg.Request, before func()) float64 {
		return testing.AllocsPerRun(50, func() {
			before()
			b.run(request)
		})
	}
	appended := func(count int) float64 {
		sent := large(t, count)
		data := slices.Clone(sent)
		return measure(produceRequest(10, 1, "t", 0, data), func() { copy(data, sent) })
	}
	fetched := func(topic *catalog.Topic) float64 { return measure(fetchRequest(12, topic, 0, 0), func() {}) }
	few, many := appended(1), appended(1000)
	// The commit behind it runs beside the request and counts too.
	if few > 10 || many > few+2 {
		t.Errorf("produce allocates %v times for 1 record, %v for 1000", few, many)
	}
	if got := fetched(topic); got > 8 {
		t.Errorf("fetch allocates %v times", got)
	}
}
