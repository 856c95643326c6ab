package protocol

import (
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// Reply is what a handler answers. The zero Reply sends nothing (Produce with acks=0).
type Reply struct {
	// Message is the response; nil sends nothing. It is encoded at its own version, which must be the
	// request's.
	Message kmsg.Response
	// Sections are the record bytes of a *kmsg.FetchResponse, indexed like its Topics and their Partitions:
	// Sections[t][p]. Missing rows and nil entries mean no records. The RecordBatches fields of the message
	// are ignored. Every section is released exactly once, whether it was sent or not.
	Sections [][]Section
	// Throttle mutes the connection for this long once the response has been sent (KIP-219): the next
	// request is not started before. It also applies when Message is nil.
	Throttle time.Duration
	// Close closes the connection after sending, or at once when Message is nil. Later requests of the
	// connection are not answered.
	Close bool
	// Recycle says that nobody keeps any byte of the request: its frame may hold another one from now on.
	// Leave it false whenever in doubt.
	Recycle bool
	// Settle is for a handler that has passed bytes of the request on: it returns when nobody reads them any more, and says instead of
	// Recycle whether the frame may hold another request. It is called when the answer was sent or could not be, also of a Reply that comes with an error. Until it
	// returns the request counts against what the server holds, and the next one is not answered: else clients that leave, or do not
	// wait, could have more on its way to a slow disk than there is memory. It must not wait for the client.
	Settle func() (recycle bool)
}

// Section is a run of record bytes that is sent as it is, from a file or from memory.
type Section interface {
	// Size is the number of bytes to send; it does not change. Zero sends nothing.
	Size() int64
	// ReadAt reads section bytes at an offset relative to the section's start. Short only with an error.
	ReadAt(p []byte, off int64) (int, error)
	// File is the open file and the absolute offset in it where the section starts, for sendfile; ok is
	// false when there is no file. The file stays open until Release.
	File() (f *os.File, offset int64, ok bool)
	// Release gives the section back.
	Release()
}

// fits refuses a response that the client could not read as the answer to its request.
func fits(header codec.RequestHeader, response kmsg.Response) error {
	if response.Key() == header.Key && (response.GetVersion() == header.Version || header.Key == keyAPIVersions) {
		return nil
	}
	return fmt.Errorf("response of key %d version %d to a request of key %d version %d",
		response.Key(), response.GetVersion(), header.Key, header.Version)
}

// release gives every section back.
func (r Reply) release() {
	for _, topic := range r.Sections {
		for _, section := range topic {
			if section != nil {
				section.Release()
			}
		}
	}
}

// recordBytes is the size of one partition's section.
func (r Reply) recordBytes(topic, partition int) int {
	if section := r.section(topic, partition); section != nil {
		return int(section.Size())
	}
	return 0
}

// section returns one partition's section, or nil.
func (r Reply) section(topic, partition int) Section {
	if topic >= len(r.Sections) || partition >= len(r.Sections[topic]) {
		return nil
	}
	return r.Sections[topic][partition]
}
