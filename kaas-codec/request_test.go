package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const samplesPerVersion = 30

// eachVersion runs a subtest for every version of every decodable key.
func eachVersion(t *testing.T, run func(t *testing.T, h codec.RequestHeader, random *rand.Rand)) {
	t.Helper()
	for _, key := range decodableKeys() {
		spec, known := codec.Lookup(key)
		if !known {
			t.Fatalf("key %d is not registered", key)
		}
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			t.Run(fmt.Sprintf("%s/v%d", spec.Name, version), func(t *testing.T) {
				seed := uint64(key)<<16 | uint64(version)
				run(t, codec.RequestHeader{Key: key, Version: version}, rand.New(rand.NewPCG(seed, 1)))
			})
		}
	}
}

// sample returns the encoding of a random valid request.
func sample(random *rand.Rand, h codec.RequestHeader) []byte {
	request := kmsg.RequestForKey(h.Key)
	fill(random, request)
	request.SetVersion(h.Version)
	resetLaterTags(request)
	return request.AppendTo(nil)
}

func TestDecodeRequestAcceptsEveryValidRequest(t *testing.T) {
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		for range samplesPerVersion {
			body := sample(random, h)
			request, err := codec.DecodeRequest(h, body)
			if err != nil {
				t.Fatalf("%x: %v", body, err)
			}
			if request.Key() != h.Key || request.GetVersion() != h.Version {
				t.Fatalf("decoded as key %d version %d", request.Key(), request.GetVersion())
			}
			if again := request.AppendTo(nil); !bytes.Equal(again, body) {
				t.Fatalf("encodes again as\n%x, was\n%x", again, body)
			}
		}
	})
}

func TestDecodeRequestIgnoresBytesAfterTheMessage(t *testing.T) {
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		body := sample(random, h)
		longer := append(bytes.Clone(body), 0xff, 0x00, 0x7f)
		request, err := codec.DecodeRequest(h, longer)
		if err != nil {
			t.Fatal(err)
		}
		if again := request.AppendTo(nil); !bytes.Equal(again, body) {
			t.Fatalf("trailing bytes changed the message: %x, was %x", again, body)
		}
	})
}

// It is the guard that refuses: kmsg would only notice after it has allocated.
func TestDecodeRequestRefusesEveryTruncation(t *testing.T) {
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		byKmsg := new(kmsg.ProduceRequest).ReadFrom(nil).Error()
		for range 5 {
			body := sample(random, h)
			for end := range body {
				request, err := codec.DecodeRequest(h, body[:end:end])
				var malformed *codec.MalformedError
				if !errors.As(err, &malformed) || malformed.Reason == byKmsg || request != nil {
					t.Fatalf("%d of %d bytes of %x: %v", end, len(body), body, err)
				}
			}
		}
	})
}

// A damaged request may still be valid. If so, it has to be what kmsg reads too,
// and nothing may panic.
func TestDecodeRequestSurvivesDamage(t *testing.T) {
	eachVersion(t, func(t *testing.T, h codec.RequestHeader, random *rand.Rand) {
		for range samplesPerVersion {
			body := sample(random, h)
			for range min(len(body), 20) {
				damaged := bytes.Clone(body)
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
				_, err := codec.DecodeRequest(h, damaged)
				if err != nil && !errors.Is(err, codec.ErrMalformed) {
					t.Fatalf("%x: %v", damaged, err)
				}
				direct := kmsg.RequestForKey(h.Key)
				direct.SetVersion(h.Version)
				if err == nil && direct.ReadFrom(damaged) != nil {
					t.Fatalf("%x: accepted although kmsg refuses it", damaged)
				}
			}
		}
	})
}

func TestDecodeRequestRefusals(t *testing.T) {
	cases := []struct {
		name   string
		header codec.RequestHeader
		want   error
	}{
		{"unknown key", codec.RequestHeader{Key: 7}, codec.ErrUnknownKey},
		{"negative key", codec.RequestHeader{Key: -1}, codec.ErrUnknownKey},
		{"version above", codec.RequestHeader{Key: 18, Version: 4}, codec.ErrUnsupportedVersion},
		{"version below", codec.RequestHeader{Key: 18, Version: -1}, codec.ErrUnsupportedVersion},
		{"empty body", codec.RequestHeader{Key: 0, Version: 3}, codec.ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request, err := codec.DecodeRequest(c.header, nil)
			if !errors.Is(err, c.want) || request != nil {
				t.Errorf("got %v, %v; want %v", request, err, c.want)
			}
		})
	}
}

func TestMalformedErrorNamesTheField(t *testing.T) {
	request := kmsg.NewPtrProduceRequest()
	request.Version = 7
	topic := kmsg.NewProduceRequestTopic()
	topic.Partitions = append(topic.Partitions, kmsg.NewProduceRequestTopicPartition())
	request.Topics = append(request.Topics, topic)
	body := request.AppendTo(nil)
	_, err := codec.DecodeRequest(codec.RequestHeader{Version: 7}, body[:len(body)-1])
	var malformed *codec.MalformedError
	if !errors.As(err, &malformed) {
		t.Fatalf("got %v", err)
	}
	const want = "TopicData: PartitionData: more elements than the remaining bytes can hold"
	if malformed.Reason != want || malformed.Key != 0 || malformed.Version != 7 {
		t.Errorf("got %+v, want reason %q", malformed, want)
	}
}

func TestDecodeRequestDoesNotCopyRecords(t *testing.T) {
	for _, version := range []int16{0, 3, 10} {
		body := produceBody(version, 1, 1<<20)
		request, err := codec.DecodeRequest(codec.RequestHeader{Version: version}, body)
		if err != nil {
			t.Fatal(err)
		}
		records := request.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
		first, start := unsafe.Pointer(unsafe.SliceData(records)), unsafe.Pointer(unsafe.SliceData(body))
		offset := uintptr(first) - uintptr(start)
		if len(records) != 1<<20 || offset >= uintptr(len(body)) {
			t.Errorf("v%d: the records are not a part of the body", version)
		}
	}
}

func produceBody(version int16, partitions, size int) []byte {
	request := kmsg.NewPtrProduceRequest()
	request.Version = version
	request.Acks = -1
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "orders"
	for p := range partitions {
		partition := kmsg.NewProduceRequestTopicPartition()
		partition.Partition = int32(p)
		partition.Records = bytes.Repeat([]byte{0xa5}, size)
		topic.Partitions = append(topic.Partitions, partition)
	}
	request.Topics = append(request.Topics, topic)
	return request.AppendTo(nil)
}

func TestMetadataReadsAsKafkaDoes(t *testing.T) {
	cases := []struct {
		name       string
		version    int16
		body       string
		all        bool
		autoCreate bool
	}{
		{"v0 empty is all", 0, "\x00\x00\x00\x00", true, true},
		{"v0 one topic", 0, "\x00\x00\x00\x01\x00\x01t", false, true},
		{"v1 empty is none", 1, "\x00\x00\x00\x00", false, true},
		{"v1 null is all", 1, "\xff\xff\xff\xff", true, true},
		{"v1 any negative count is null", 1, "\x80\x00\x00\x05", true, true},
		{"v3 null is all", 3, "\xff\xff\xff\xff", true, true},
		{"v4 without creation", 4, "\xff\xff\xff\xff\x00", true, false},
		{"v4 with creation", 4, "\x00\x00\x00\x00\x01", false, true},
		{"v12 null is all", 12, "\x00\x01\x00\x00", true, true},
		{"v12 empty is none", 12, "\x01\x00\x00\x00", false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			request, err := codec.DecodeRequest(codec.RequestHeader{Key: 3, Version: c.version}, []byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			metadata := request.(*kmsg.MetadataRequest)
			if all := metadata.Topics == nil; all != c.all || metadata.AllowAutoTopicCreation != c.autoCreate {
				t.Errorf("all topics %v, create %v; want %v, %v", all, metadata.AllowAutoTopicCreation, c.all, c.autoCreate)
			}
		})
	}
}
