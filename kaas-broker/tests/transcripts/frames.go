package transcripts

import (
	"math"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	keyProduce  int16 = 0
	keyMetadata int16 = 3
)

func framesScript(t *Talk) {
	framesOfUnknownKeys(t)
	framesOfUnknownVersions(t)
	framesOfWrongSize(t)
	framesOfOddHeaders(t)
	framesOfHostileLengths(t)
	framesCutShort(t)
	framesInPieces(t)
}

// plainMetadata asks for no topic.
func plainMetadata() []byte { return int32Bytes(0) }

func framesOfUnknownKeys(t *Talk) {
	for _, key := range []int16{999, -1, 32767, 93} {
		frame := requestHeader(key, 0, 1, new(clientID), false)
		t.Frame("key "+strconv.Itoa(int(key)), keyAPIVersions, 0, sized(frame))
	}
	for _, key := range []int16{4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73} {
		frame := requestHeader(key, 0, 1, new(clientID), false)
		t.Frame("a key between brokers, "+kmsg.NameForKey(key), keyAPIVersions, 0, sized(append(frame, make([]byte, 64)...)))
	}
}

func framesOfUnknownVersions(t *Talk) {
	for _, c := range []struct{ key, largest int16 }{{0, 10}, {1, 16}, {2, 8}, {3, 12}, {19, 7}, {20, 6}, {21, 2}, {22, 4}, {23, 4}, {32, 4}, {37, 3}, {44, 1}} {
		request := kmsg.RequestForKey(c.key)
		for _, version := range []int16{c.largest + 1, -1, math.MaxInt16} {
			frame := requestHeader(c.key, version, 1, new(clientID), version >= 0)
			request.SetVersion(max(min(version, request.MaxVersion()), 0))
			t.Frame("a version that does not exist", c.key, version, sized(request.AppendTo(frame)))
		}
	}
}

func framesOfWrongSize(t *Talk) {
	good := sized(append(requestHeader(keyMetadata, 1, 1, new(clientID), false), plainMetadata()...))
	for _, c := range []struct {
		name  string
		bytes []byte
	}{
		{"a size of 0", int32Bytes(0)},
		{"a size of -1", int32Bytes(-1)},
		{"the smallest size", int32Bytes(math.MinInt32)},
		{"a size above the limit", int32Bytes(104857601)},
		{"the largest size", int32Bytes(math.MaxInt32)},
		{"a size of 1", append(int32Bytes(1), 0)},
		{"a size of 7", append(int32Bytes(7), 0, 3, 0, 1, 0, 0, 0)},
		{"a size of 8", append(int32Bytes(8), 0, 3, 0, 1, 0, 0, 0, 1)},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")},
		{"TLS", []byte("\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03" + strings.Repeat("x", 200))},
		{"a good frame", good},
	} {
		t.Frame(c.name, keyMetadata, 1, c.bytes)
	}
}

func framesOfOddHeaders(t *Talk) {
	header := func(client []byte) []byte {
		return joined(int16Bytes(keyMetadata), int16Bytes(1), int32Bytes(7), client)
	}
	for _, c := range []struct {
		name  string
		frame []byte
	}{
		{"a null client id", joined(header(int16Bytes(-1)), plainMetadata())},
		{"a client id of length -7530", joined(header(int16Bytes(-7530)), plainMetadata())},
		{"an empty client id", joined(header(int16Bytes(0)), plainMetadata())},
		{"a client id that is not UTF-8", joined(header(int16Bytes(3)), []byte{0xff, 0xfe, 0x80}, plainMetadata())},
		{"a client id longer than the frame", joined(header(int16Bytes(300)), plainMetadata())},
		{"a client id of 5000 characters", joined(header(int16Bytes(5000)), []byte(strings.Repeat("c", 5000)), plainMetadata())},
		{"no client id", header(nil)},
		{"bytes behind the request", joined(header(int16Bytes(0)), plainMetadata(), []byte("more"))},
	} {
		t.Frame(c.name, keyMetadata, 1, sized(c.frame))
	}
	flexible := func(tags ...byte) []byte {
		return joined(int16Bytes(keyMetadata), int16Bytes(12), int32Bytes(7), int16Bytes(0), tags)
	}
	body := []byte{1, 0, 0, 0} // no topic, both flags, no tags
	for _, c := range []struct {
		name  string
		frame []byte
	}{
		{"no tags in the header", joined(flexible(0), body)},
		{"an unknown tag in the header", joined(flexible(1, 9, 2, 'x', 'y'), body)},
		{"a tag twice in the header", joined(flexible(2, 9, 1, 'x', 9, 1, 'y'), body)},
		{"tags out of order in the header", joined(flexible(2, 9, 1, 'x', 8, 1, 'y'), body)},
		{"a tag longer than the frame", joined(flexible(1, 9, 200, 1), body)},
		{"more tags than the frame holds", joined(flexible(0xff, 0xff, 3), body)},
		{"an endless number of tags", joined(flexible(0xff, 0xff, 0xff, 0xff, 0xff, 0xff), body)},
		{"an unknown tag in the body", joined(flexible(0), []byte{1, 0, 0, 1, 9, 2, 'x', 'y'})},
		{"a tag of the body longer than the frame", joined(flexible(0), []byte{1, 0, 0, 1, 9, 0xff, 0xff, 3})},
	} {
		t.Frame(c.name, keyMetadata, 12, sized(c.frame))
	}
}

func framesOfHostileLengths(t *Talk) {
	header := func(key, version int16) []byte { return requestHeader(key, version, 1, new(clientID), false) }
	for _, c := range []struct {
		name         string
		key, version int16
		body         []byte
	}{
		{"an array of 2147483647 topics", keyMetadata, 1, int32Bytes(math.MaxInt32)},
		{"an array of 1000000 topics", keyMetadata, 1, int32Bytes(1000000)},
		{"an array of -1 topics", keyMetadata, 1, int32Bytes(-1)},
		{"an array of -2 topics", keyMetadata, 1, int32Bytes(-2)},
		{"an array of -1 topics that cannot be null", keyMetadata, 0, int32Bytes(-1)},
		{"a name of length -1", keyMetadata, 1, joined(int32Bytes(1), int16Bytes(-1))},
		{"a name of length -2", keyMetadata, 1, joined(int32Bytes(1), int16Bytes(-2))},
		{"a name of length 32767", keyMetadata, 1, joined(int32Bytes(1), int16Bytes(32767), []byte("abc"))},
		{"a name that is not UTF-8", keyMetadata, 1, joined(int32Bytes(1), int16Bytes(2), []byte{0xff, 0xfe})},
		{"records of length 2147483647", keyProduce, 3, joined(int16Bytes(-1), int16Bytes(1), int32Bytes(1000), int32Bytes(1), int16Bytes(1), []byte("t"),
			int32Bytes(1), int32Bytes(0), int32Bytes(math.MaxInt32))},
		{"records of length -2", keyProduce, 3, joined(int16Bytes(-1), int16Bytes(1), int32Bytes(1000), int32Bytes(1), int16Bytes(1), []byte("t"),
			int32Bytes(1), int32Bytes(0), int32Bytes(-2))},
	} {
		t.Frame(c.name, c.key, c.version, sized(joined(header(c.key, c.version), c.body)), "-Topics[*")
	}
}

// framesInPieces sends frames that come together or apart: the first answer is that to the first request.
func framesInPieces(t *Talk) {
	first := sized(joined(requestHeader(keyMetadata, 1, 1, new(clientID), false), plainMetadata()))
	second := sized(requestHeader(keyAPIVersions, 0, 2, new(clientID), false))
	t.Frame("two requests at once", keyMetadata, 1, joined(first, second))
	t.Frame("a request and the beginning of another", keyMetadata, 1, joined(first, second[:6]))
	t.Frame("a request and a frame of size -1", keyMetadata, 1, joined(first, int32Bytes(-1)))
	t.Frame("an unknown key before a request", keyMetadata, 1, joined(sized(requestHeader(999, 0, 1, new(clientID), false)), first))
}

// framesCutShort sends requests whose last byte is missing, and ones that end behind the header.
func framesCutShort(t *Talk) {
	for _, c := range []struct {
		request  kmsg.Request
		versions []int16
	}{
		{produceTo("frames", values("a")), []int16{0, 3, 8, 9}},
		{fetch(0, fetchTopic("frames", strangerID, 0, 0)), []int16{0, 4, 11, 12, 13}},
		{listOffsets("frames", -1), []int16{0, 1, 6}},
		{metadataRequest("frames"), []int16{0, 4, 9, 12}},
		{createTopics(newTopic("frames", 1, 1)), []int16{0, 4, 7}},
		{deleteNamed("frames"), []int16{0, 4, 6}},
		{deleteRecords("frames", 0, 0), []int16{0, 2}},
		{epochEnd("frames", 0, -1, 0), []int16{0, 4}},
		{kmsg.NewPtrInitProducerIDRequest(), []int16{0, 2, 4}},
		{describeConfigs(kmsg.ConfigResourceTypeTopic, "frames"), []int16{0, 4}},
		{createPartitions(morePartitions("frames", 1)), []int16{0, 2}},
		{alterConfigs(kmsg.ConfigResourceTypeTopic, "frames"), []int16{0, 1}},
	} {
		for _, version := range c.versions {
			c.request.SetVersion(version)
			header := requestHeader(c.request.Key(), version, 1, new(clientID), c.request.IsFlexible())
			whole := c.request.AppendTo(header)
			t.Frame("the last byte is missing", c.request.Key(), version, sized(whole[:len(whole)-1]))
			t.Frame("nothing behind the header", c.request.Key(), version, sized(header))
		}
	}
}
