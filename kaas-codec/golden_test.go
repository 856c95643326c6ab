package codec_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

// goldenLines calls run with each line of a file that Kafka's classes wrote.
func goldenLines(t testing.TB, name string, run func(line string)) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		run(lines.Text())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// versionsFile holds no messages: the header versions of every key.
const versionsFile = "versions-3.7.2.txt"

// goldenMessage is one line of a file of messages: a frame without its size.
type goldenMessage struct {
	request bool
	header  codec.RequestHeader // key and version only
	content string              // empty, typical or full
	frame   []byte
}

// goldenMessages returns the messages of all files.
func goldenMessages(t testing.TB) []goldenMessage {
	t.Helper()
	var messages []goldenMessage
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == versionsFile {
			continue
		}
		goldenLines(t, name, func(line string) {
			var message goldenMessage
			var what, digits string
			_, err := fmt.Sscan(line, &what, &message.header.Key, &message.header.Version, &message.content, &digits)
			if err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			message.request = what == "request"
			if message.frame, err = hex.DecodeString(digits); err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
			messages = append(messages, message)
		})
	}
	return messages
}

// What Kafka writes is read and written again without a difference.
func TestGoldenMessages(t *testing.T) {
	for _, message := range goldenMessages(t) {
		h := message.header
		if spec, _ := codec.Lookup(h.Key); !spec.Supports(h.Version) {
			t.Fatalf("key %d version %d is not registered", h.Key, h.Version)
		}
		if message.request {
			checkGoldenRequest(t, h, message.frame)
		} else {
			checkGoldenResponse(t, h, message.frame)
		}
	}
}

// Every version of every key is there in each case.
func TestGoldenMessagesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	name := func(request bool, key, version int16, content string) string {
		return fmt.Sprintf("request %v key %d version %d %s", request, key, version, content)
	}
	for _, message := range goldenMessages(t) {
		seen[name(message.request, message.header.Key, message.header.Version, message.content)] = true
	}
	for _, spec := range codec.Specs() {
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			for _, content := range []string{"empty", "typical", "full"} {
				for _, request := range []bool{true, false} {
					if wanted := name(request, spec.Key, version, content); !seen[wanted] {
						t.Errorf("no golden message: %s", wanted)
					}
				}
			}
		}
	}
}

func checkGoldenRequest(t *testing.T, want codec.RequestHeader, frame []byte) {
	t.Helper()
	h, body, err := codec.ParseRequestHeader(frame)
	if err != nil || h.Key != want.Key || h.Version != want.Version {
		t.Fatalf("key %d version %d: header %+v, %v", want.Key, want.Version, h, err)
	}
	request, err := codec.DecodeRequest(h, body)
	if err != nil {
		t.Fatalf("key %d version %d: %v\n%x", h.Key, h.Version, err, body)
	}
	if again := request.AppendTo(nil); !bytes.Equal(again, body) {
		t.Errorf("key %d version %d: got\n%x, Kafka wrote\n%x", h.Key, h.Version, again, body)
	}
}

func checkGoldenResponse(t *testing.T, h codec.RequestHeader, frame []byte) {
	t.Helper()
	request := kmsg.RequestForKey(h.Key)
	request.SetVersion(h.Version)
	response := request.ResponseKind()
	spec, _ := codec.Lookup(h.Key)
	bodyAt := 4
	if spec.Flexible(h.Version) && h.Key != 18 {
		bodyAt = 5
	}
	if err := response.ReadFrom(frame[bodyAt:]); err != nil {
		t.Fatalf("key %d version %d: %v\n%x", h.Key, h.Version, err, frame)
	}
	h.CorrelationID = int32(binary.BigEndian.Uint32(frame))
	if got := codec.AppendResponse(nil, h, response); !bytes.Equal(got[4:], frame) {
		t.Errorf("key %d version %d: got\n%x, Kafka wrote\n%x", h.Key, h.Version, got[4:], frame)
	}
	if fetch, is := response.(*kmsg.FetchResponse); is {
		envelope, cuts := codec.AppendFetchResponse(nil, h, fetch, recordsOf(fetch))
		if got := splice(envelope, cuts, fetch); !bytes.Equal(got[4:], frame) {
			t.Errorf("Fetch version %d: got\n%x, Kafka wrote\n%x", h.Version, got[4:], frame)
		}
	}
}

// The registry has the versions of Kafka 3.7.2, and their headers.
func TestGoldenVersions(t *testing.T) {
	kafka := map[int16]map[int16]string{}
	goldenLines(t, versionsFile, func(line string) {
		var key, version int16
		var request, response string
		if _, err := fmt.Sscan(line, &key, &version, &request, &response); err != nil {
			t.Fatal(err)
		}
		if kafka[key] == nil {
			kafka[key] = map[int16]string{}
		}
		kafka[key][version] = request + response
	})
	additions := map[string]bool{"DescribeCluster v2": true, "DescribeTopicPartitions v0": true}
	for _, spec := range codec.Specs() {
		served := int(spec.MaxVersion) - int(spec.MinVersion) + 1
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			name := fmt.Sprintf("%s v%d", spec.Name, version)
			if additions[name] {
				served--
				continue
			}
			if want, got := kafka[spec.Key][version], headerVersions(spec, version); got != want {
				t.Errorf("%s: header versions %s, Kafka's %q", name, got, want)
			}
		}
		if served != len(kafka[spec.Key]) {
			t.Errorf("%s: %d versions, Kafka has %d", spec.Name, served, len(kafka[spec.Key]))
		}
	}
}

// headerVersions observes the header versions through what is read and written.
func headerVersions(spec codec.ApiSpec, version int16) string {
	var versions strings.Builder
	frame := binary.BigEndian.AppendUint16(nil, uint16(spec.Key))
	frame = binary.BigEndian.AppendUint16(frame, uint16(version))
	frame = append(frame, 0, 0, 0, 1, 0xff, 0xff, 0, 'b')
	h, body, _ := codec.ParseRequestHeader(frame)
	fmt.Fprint(&versions, 3-len(body))
	request := kmsg.RequestForKey(spec.Key)
	request.SetVersion(version)
	response := request.ResponseKind()
	header := len(codec.AppendResponse(nil, h, response)) - len(response.AppendTo(nil))
	fmt.Fprint(&versions, header-8)
	return versions.String()
}
