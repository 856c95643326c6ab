package hostile

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// denseBound is what requests may take that become as much larger in memory as the broker lets them. With their answers that is up to a hundred
// times their size, and 16 MiB of them are worked on at once.
const denseBound = 2000 * mib

// Requests of many tiny elements, which become many times larger when they are decoded and answered.
func TestDenseRequests(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, denseBound)
	runBeside(t, broker.Bootstrap())
	size := pick(2, 8) << 20
	number := func(head []byte, count int) []byte { return binary.BigEndian.AppendUint32(head, uint32(count)) }
	header := func(key, version int16) []byte {
		head := binary.BigEndian.AppendUint16(nil, uint16(key))
		head = binary.BigEndian.AppendUint16(head, uint16(version))
		return append(head, 0, 0, 0, 1, 0xff, 0xff)
	}
	topic := []byte{0, 1, 'x'}
	many := func(frame, element []byte) []byte {
		count := size / len(element)
		frame = number(frame, count)
		for i := range count {
			at := len(frame)
			frame = append(frame, element...)
			if len(element) >= 4 {
				binary.BigEndian.PutUint32(frame[at:], uint32(i))
			}
		}
		return frame
	}
	list := append(number(append(header(2, 1), 0xff, 0xff, 0xff, 0xff), 1), topic...)
	fetch := append(number(append(header(1, 0), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0), 1), topic...)
	remove := append(number(header(21, 0), 1), topic...)
	mark := append(number(append(number(header(27, 0), 1), make([]byte, 11)...), 1), topic...)
	add := append(number(append(append(header(24, 0), topic...), make([]byte, 10)...), 1), topic...)
	for name, frame := range map[string][]byte{
		"WriteTxnMarkers":    append(many(mark, make([]byte, 4)), 0, 0, 0, 9),
		"AddPartitionsToTxn": many(add, make([]byte, 4)),
		"ListOffsets":        many(list, make([]byte, 12)),
		"Fetch":              many(fetch, make([]byte, 16)),
		"Metadata":           many(header(3, 1), []byte{0, 2, 'a', 'b'}[:4]),
		"DeleteRecords":      append(many(remove, make([]byte, 12)), 0, 0, 0, 9),
		"DeleteTopics":       append(many(header(20, 0), []byte{0, 0}), 0, 0, 0, 9),
	} {
		if name == "Metadata" {
			// The counter that the elements carry would be a length.
			for at := len(header(3, 1)) + 4; at+4 <= len(frame); at += 4 {
				frame[at], frame[at+1] = 0, 2
			}
		}
		began := time.Now()
		clients := pick(2, 10)
		if name == "Fetch" {
			clients = min(clients, 2) // one that waits for records is not counted with more than its size
		}
		together(t, clients, func(int) error {
			connection, err := connect(broker.Bootstrap())
			if err != nil {
				return err
			}
			defer connection.Close()
			if _, err := connection.Write(sized(frame)); err != nil {
				return nil // closed: it was refused
			}
			if _, err := connection.receive(60 * time.Second); isTimeout(err) {
				return err
			}
			return nil
		})
		now, peak := broker.Memory(t)
		t.Logf("%s: %d MiB in %v, memory %d MiB, at most %d", name, len(frame)>>20, time.Since(began).Round(time.Millisecond), now>>20, peak>>20)
	}
}
