package protocol

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const (
	// stagingBytes is the size of the buffer in which envelope pieces and small sections travel together.
	stagingBytes = 128 << 10
	// copiedSection is the size up to which copying a section into the staging buffer is cheaper than a
	// system call of its own.
	copiedSection = 32 << 10
	// keptEnvelope is the largest encoding buffer that is kept for the next response.
	keptEnvelope = 1 << 20
)

// buffers are the pooled buffers of a server's writers.
type buffers struct {
	envelopes sync.Pool // *[]byte, for encoding
	staging   sync.Pool // *[stagingBytes]byte
}

// outbox sends responses on one connection. Only the writer goroutine uses it.
type outbox struct {
	connection *connection
}

// send encodes a reply and sends it whole; anything less is an error, after which the stream is of no use.
func (o *outbox) send(header codec.RequestHeader, reply Reply) (int64, error) {
	pool := &o.connection.server.buffers.envelopes
	kept, found := pool.Get().(*[]byte)
	if !found {
		kept = new([]byte)
	}
	defer func() {
		if cap(*kept) <= keptEnvelope {
			pool.Put(kept)
		}
	}()
	fetch, is := reply.Message.(*kmsg.FetchResponse)
	if !is {
		*kept = codec.AppendResponse((*kept)[:0], header, reply.Message)
		n, err := o.connection.stream.Write(*kept)
		return int64(n), sendFailure(err)
	}
	var cuts []codec.FetchCut
	*kept, cuts = codec.AppendFetchResponse((*kept)[:0], header, fetch, reply.recordBytes)
	if len(cuts) == 0 {
		n, err := o.connection.stream.Write(*kept)
		return int64(n), sendFailure(err)
	}
	return o.splice(*kept, cuts, reply)
}

// splice sends the pieces of an envelope with the sections in their places.
func (o *outbox) splice(envelope []byte, cuts []codec.FetchCut, reply Reply) (int64, error) {
	total := int64(len(envelope))
	for _, cut := range cuts {
		total += reply.section(cut.Topic, cut.Partition).Size()
	}
	if total > math.MaxInt32 {
		return 0, fmt.Errorf("response of %d bytes is too large for a frame", total)
	}
	pool := &o.connection.server.buffers.staging
	buffer, found := pool.Get().(*[stagingBytes]byte)
	if !found {
		buffer = new([stagingBytes]byte)
	}
	defer pool.Put(buffer)
	s := stage{connection: o.connection, buffer: buffer[:0]}
	sent := 0
	for _, cut := range cuts {
		if err := s.bytes(envelope[sent:cut.At]); err != nil {
			return s.sent, err
		}
		sent = cut.At
		if err := s.section(reply.section(cut.Topic, cut.Partition)); err != nil {
			return s.sent, fmt.Errorf("send records: %w", err)
		}
	}
	if err := s.bytes(envelope[sent:]); err != nil {
		return s.sent, err
	}
	return s.sent, s.flush()
}

// sendFailure is nil for nil.
func sendFailure(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("send response: %w", err)
}

// stage gathers what is sent, so that many small pieces leave in one system call.
type stage struct {
	connection *connection
	buffer     []byte
	sent       int64
}

// bytes adds a piece.
func (s *stage) bytes(piece []byte) error {
	for len(piece) > 0 {
		if len(s.buffer) == cap(s.buffer) {
			if err := s.flush(); err != nil {
				return err
			}
		}
		n := copy(s.buffer[len(s.buffer):cap(s.buffer)], piece)
		s.buffer = s.buffer[:len(s.buffer)+n]
		piece = piece[n:]
	}
	return nil
}

// section adds record bytes: copied when they are few or cannot be sent from a file, else with sendfile.
func (s *stage) section(records Section) error {
	size := records.Size()
	if s.connection.plaintext() && size > copiedSection {
		file, offset, is := records.File()
		if is && file != nil {
			if err := s.flush(); err != nil {
				return err
			}
			n, err := s.connection.socket.sendFile(file, offset, size)
			s.sent += n
			if err == nil || n > 0 || !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
		}
	}
	return s.copied(records, size)
}

// copied adds record bytes through the buffer.
func (s *stage) copied(records Section, size int64) error {
	for offset := int64(0); offset < size; {
		if len(s.buffer) == cap(s.buffer) {
			if err := s.flush(); err != nil {
				return err
			}
		}
		free := s.buffer[len(s.buffer):cap(s.buffer)]
		free = free[:min(int64(len(free)), size-offset)]
		n, err := records.ReadAt(free, offset)
		if n < len(free) {
			if err == nil || errors.Is(err, io.EOF) {
				err = errShortSection
			}
			return err
		}
		s.buffer = s.buffer[:len(s.buffer)+n]
		offset += int64(n)
	}
	return nil
}

// flush sends the buffer. Telling the kernel that more follows (MSG_MORE) saved a packet in front of a sendfile
// and cost more than it saved.
func (s *stage) flush() error {
	if len(s.buffer) == 0 {
		return nil
	}
	n, err := s.connection.stream.Write(s.buffer)
	s.sent += int64(n)
	s.buffer = s.buffer[:0]
	return sendFailure(err)
}
