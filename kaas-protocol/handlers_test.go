package protocol_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

// parked is a Fetch handler whose requests wait until they are let go or their context ends.
type parked struct {
	started  chan *protocol.Request // one per Start
	let      chan protocol.Reply    // one per answer; the message is filled in
	canceled chan struct{}          // one per context that ended
	answered chan struct{}          // one per answer that was let go
}

func newParked() *parked {
	return &parked{
		started: make(chan *protocol.Request, 1000), let: make(chan protocol.Reply, 1000),
		canceled: make(chan struct{}, 1000), answered: make(chan struct{}, 1000),
	}
}

func (p *parked) api() protocol.API {
	return protocol.API{Key: 1, Pipelined: true, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		p.started <- r
		return func(ctx context.Context) (protocol.Reply, error) {
			if ctx.Err() != nil {
				p.canceled <- struct{}{}
				return protocol.Reply{}, ctx.Err()
			}
			select {
			case reply := <-p.let:
				p.answered <- struct{}{}
				if reply.Message == nil {
					reply.Message = r.Message.ResponseKind()
				}
				return reply, nil
			case <-ctx.Done():
				p.canceled <- struct{}{}
				return protocol.Reply{}, ctx.Err()
			}
		}
	}}
}

// produce answers at once, or never with acks=0, and tells what it has started.
func produce(started chan<- int32) protocol.API {
	return protocol.API{Key: 0, Pipelined: true, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		if started != nil {
			started <- r.Header.CorrelationID
		}
		return func(context.Context) (protocol.Reply, error) {
			if r.Message.(*kmsg.ProduceRequest).Acks == 0 {
				return protocol.Reply{}, nil
			}
			return protocol.Reply{Message: r.Message.ResponseKind(), Recycle: true}, nil
		}
	}}
}

// replying answers Metadata with what the function returns.
func replying(reply func(r *protocol.Request) (protocol.Reply, error)) protocol.API {
	return protocol.API{Key: 3, Start: func(_ context.Context, r *protocol.Request) protocol.FinishFunc {
		return func(context.Context) (protocol.Reply, error) { return reply(r) }
	}}
}

func fetchRequest() *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version = 12
	return request
}

func metadataRequest() *kmsg.MetadataRequest {
	request := kmsg.NewPtrMetadataRequest()
	request.Version = 9
	return request
}

func produceRequest(acks int16, records int) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Version = 8
	request.Acks = acks
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "t"
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = make([]byte, records)
	topic.Partitions = append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	return request
}

// section is a Section over bytes or a file that counts its releases.
type section struct {
	bytes    []byte
	file     *os.File
	offset   int64
	size     int64
	released atomic.Int64
	panics   bool
}

func memorySection(p []byte) *section { return &section{bytes: p, size: int64(len(p))} }

// fileSection puts the bytes behind some others into a file.
func fileSection(t testing.TB, p []byte) *section {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "section")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	const offset = 1234
	if _, err := file.WriteAt(p, offset); err != nil {
		t.Fatal(err)
	}
	return &section{file: file, offset: offset, size: int64(len(p))}
}

func (s *section) Size() int64 { return s.size }

func (s *section) ReadAt(p []byte, off int64) (int, error) {
	if s.panics {
		panic("section")
	}
	if s.file != nil {
		return s.file.ReadAt(p, s.offset+off)
	}
	return copy(p, s.bytes[off:]), nil
}

func (s *section) File() (*os.File, int64, bool) { return s.file, s.offset, s.file != nil }

func (s *section) Release() { s.released.Add(1) }

// within receives from a channel, or fails.
func within[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case value := <-from:
		return value
	case <-ctx.Done():
		t.Fatalf("%s: nothing within %s", what, patience)
		panic("unreachable")
	}
}

// never fails when something comes from the channel within a moment.
func never[T any](t testing.TB, what string, from <-chan T) {
	t.Helper()
	select {
	case <-from:
		t.Fatal(what)
	case <-time.After(50 * time.Millisecond):
	}
}
