package clients

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// frame puts the size before a request.
func frame(parts ...[]byte) []byte {
	body := slices.Concat(parts...)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// header is a request header of version 1 with the client id "raw".
func header(key, version int16) []byte {
	head := binary.BigEndian.AppendUint16(nil, uint16(key))
	head = binary.BigEndian.AppendUint16(head, uint16(version))
	head = binary.BigEndian.AppendUint32(head, 7)
	return append(head, 0, 3, 'r', 'a', 'w')
}

// Frames that no client sends on purpose: the broker closes the connection without an answer and serves the next one as if nothing had been.
func TestHostileFramesCloseTheConnection(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	size := func(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	for _, tested := range []struct {
		name string
		sent []byte
		// finish closes our side, for what the broker cannot tell from a slow client.
		finish bool
	}{
		{name: "size 0", sent: size(0)},
		{name: "negative size", sent: size(-1)},
		{name: "size above the limit", sent: size(100<<20 + 1)},
		{name: "an HTTP request", sent: []byte("GET / HTTP/1.1\r\nHost: kafka\r\n\r\n")},
		{name: "a TLS greeting", sent: []byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}},
		{name: "unknown key", sent: frame(header(999, 0))},
		{name: "negative key", sent: frame(header(-1, 0))},
		{name: "a key of brokers among themselves", sent: frame(header(4, 0))},
		{name: "unsupported version", sent: frame(header(3, 99))},
		{name: "negative version", sent: frame(header(1, -1))},
		{name: "shorter than a header", sent: frame([]byte{0, 3})},
		{name: "client id longer than the frame", sent: frame([]byte{0, 3, 0, 0, 0, 0, 0, 7, 0x7f, 0xff, 'x'})},
		{name: "body missing", sent: frame(header(1, 4))},
		{name: "array of two thousand million topics", sent: frame(header(3, 1), size(0x7fffffff))},
		{name: "string longer than the frame", sent: frame(header(3, 1), size(1), []byte{0x7f, 0xff, 'x'})},
		{name: "frame that never ends", sent: append(size(1000), header(3, 1)...), finish: true},
	} {
		t.Run(tested.name, func(t *testing.T) {
			answer := exchange(t, broker.Bootstrap(), tested.sent, tested.finish)
			if len(answer) != 0 {
				t.Errorf("answered %x", answer)
			}
			alive(t, broker.Bootstrap(), topic)
		})
	}
}

// exchange sends bytes on a connection of their own and returns everything that comes until the broker closes it.
func exchange(t *testing.T, address string, sent []byte, finish bool) []byte {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := connection.Write(sent); err != nil {
		t.Fatal(err)
	}
	if finish {
		_ = connection.(*net.TCPConn).CloseWrite()
	}
	answer, err := io.ReadAll(connection)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatalf("the connection was still open after 10 seconds, with the answer %x", answer)
	}
	return answer
}

// alive fails the test when the broker does not take and give a record.
func alive(t *testing.T, address, topic string) {
	t.Helper()
	before := endOffset(t, address, topic, 0)
	franzProduce(t, address, topic, numbered("alive", 1))
	if after := endOffset(t, address, topic, 0); after != before+1 {
		t.Fatalf("the log went from %d to %d with one record", before, after)
	}
}

// The newest ApiVersions that exists is answered with error 35 in the oldest layout, so that any client can read it.
func TestApiVersionsAboveOursAnswersInTheOldestLayout(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	connection, err := net.Dial("tcp", broker.Bootstrap())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_ = connection.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := connection.Write(frame(header(18, 99), []byte{0, 2, 'x', 2, 'y', 0})); err != nil {
		t.Fatal(err)
	}
	answer := readFrame(t, connection)
	if got := binary.BigEndian.Uint32(answer); got != 7 {
		t.Fatalf("correlation id %d, want 7", got)
	}
	response := kmsg.NewPtrApiVersionsResponse()
	if err := response.ReadFrom(answer[4:]); err != nil {
		t.Fatal(err)
	}
	if response.ErrorCode != kerr.UnsupportedVersion.Code {
		t.Errorf("error %d, want 35", response.ErrorCode)
	}
	if !slices.ContainsFunc(response.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == 18 && k.MaxVersion >= 3 }) {
		t.Errorf("the answer does not say which versions of ApiVersions there are: %+v", response.ApiKeys)
	}
	// The connection is good for another try.
	if _, err := connection.Write(frame(header(18, 0))); err != nil {
		t.Fatal(err)
	}
	if err := response.ReadFrom(readFrame(t, connection)[4:]); err != nil || response.ErrorCode != 0 {
		t.Errorf("the second try: %v, error %d", err, response.ErrorCode)
	}
}

func readFrame(t *testing.T, connection net.Conn) []byte {
	t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(connection, size[:]); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(connection, answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestTopicNamesThatAreRefused(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for name, topic := range map[string]string{
		"empty": "", "dot": ".", "parent folder": "..", "path": "../../etc", "slash": "a/b", "250 characters": strings.Repeat("a", 250),
		"space": "a b", "null": "a\x00b", "not ASCII": "größe", "newline": "a\nb",
	} {
		t.Run(name, func(t *testing.T) {
			if code := tryCreateTopic(t, broker.Bootstrap(), topic, 1); code != kerr.InvalidTopicException.Code {
				t.Errorf("creation answers %v", kerr.ErrorForCode(code))
			}
			if topic == "" {
				return
			}
			if code := topicError(t, broker.Bootstrap(), topic); code != kerr.InvalidTopicException.Code {
				t.Errorf("metadata answers %v", kerr.ErrorForCode(code))
			}
		})
	}
	longest := strings.Repeat("a", 249)
	createTopic(t, broker.Bootstrap(), longest, 1)
	alive(t, broker.Bootstrap(), longest)
}

// Kafka takes these names. Here, folders of such names hold what belongs to no topic: a topic must not get into them.
func TestTopicsNamedLikeInternalFolders(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topics := []string{uniqueName(t), "__cluster", "__coordinator", "topics", "producer_ids", ".kaas-volume.json", ".kaas-reserve", "leader.00000009"}
	for _, topic := range topics {
		createTopic(t, broker.Bootstrap(), topic, 1)
		franzProduce(t, broker.Bootstrap(), topic, numbered(topic, 20))
	}
	broker.Kill(t)
	broker.Resume(t)
	for _, topic := range topics {
		compare(t, franzConsume(t, broker.Bootstrap(), topic, 20), numbered(topic, 20))
	}
	for _, topic := range topics[1:] {
		deleteTopic(t, broker.Bootstrap(), topic)
	}
	broker.Stop(t)
	broker.Resume(t)
	compare(t, franzConsume(t, broker.Bootstrap(), topics[0], 20), numbered(topics[0], 20))
}

func TestSettingsThatAreRefused(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for name, config := range map[string][2]string{
		"no number":      {"retention.ms", "soon"},
		"out of range":   {"segment.bytes", "1"},
		"no such policy": {"cleanup.policy", "shred"},
		"no such codec":  {"compression.type", "rar"},
		"unknown name":   {"retention.millis", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			code := tryCreateTopic(t, broker.Bootstrap(), uniqueName(t), 1, config[0], config[1])
			if code != kerr.InvalidConfig.Code {
				t.Errorf("%s=%s answers %v", config[0], config[1], kerr.ErrorForCode(code))
			}
		})
	}
}
