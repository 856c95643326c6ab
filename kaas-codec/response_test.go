package codec_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

func TestAppendResponse(t *testing.T) {
	random := rand.New(rand.NewPCG(18, 1))
	for _, spec := range codec.Specs() {
		for version := spec.MinVersion; version <= spec.MaxVersion; version++ {
			request := kmsg.RequestForKey(spec.Key)
			request.SetVersion(version)
			response := request.ResponseKind()
			fill(random, response)
			header := codec.RequestHeader{Key: spec.Key, Version: version, CorrelationID: -559038737}

			before := []byte("kept")
			encoded := codec.AppendResponse(bytes.Clone(before), header, response)
			rest, kept := bytes.CutPrefix(encoded, before)
			if !kept || int(binary.BigEndian.Uint32(rest)) != len(rest)-4 {
				t.Fatalf("%s v%d: size prefix %x of %d bytes", spec.Name, version, rest[:4], len(rest))
			}
			want := []byte{0xde, 0xad, 0xbe, 0xef}
			if spec.Flexible(version) && spec.Name != "ApiVersions" {
				want = append(want, 0)
			}
			want = response.AppendTo(want) // AppendResponse has dropped what the version does not have
			if !bytes.Equal(rest[4:], want) {
				t.Errorf("%s v%d: got %x, want %x", spec.Name, version, rest[4:], want)
			}
		}
	}
}

// The answer to an ApiVersions request above our maximum: v0 in every respect.
func TestAppendResponseUnsupportedApiVersions(t *testing.T) {
	response := kmsg.NewPtrApiVersionsResponse()
	response.ErrorCode = 35
	key := kmsg.NewApiVersionsResponseApiKey()
	key.ApiKey, key.MaxVersion = 18, 3
	response.ApiKeys = append(response.ApiKeys, key)
	got := codec.AppendResponse(nil, codec.RequestHeader{Key: 18, Version: 99, CorrelationID: 7}, response)
	want := "\x00\x00\x00\x10\x00\x00\x00\x07\x00\x23\x00\x00\x00\x01\x00\x12\x00\x00\x00\x03"
	if string(got) != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

// The leader hints of Produce v10 are tags that v9 does not know.
func TestAppendResponseLeavesOutTagsOfLaterVersions(t *testing.T) {
	for version := int16(8); version <= 10; version++ {
		with, without := produceResponse(version), produceResponse(version)
		with.Topics[0].Partitions[0].CurrentLeader.LeaderID = 3
		broker := kmsg.NewProduceResponseBroker()
		broker.Host = "host"
		with.Brokers = append(with.Brokers, broker)
		header := codec.RequestHeader{Version: version}
		same := bytes.Equal(codec.AppendResponse(nil, header, with), codec.AppendResponse(nil, header, without))
		if same != (version < 10) {
			t.Errorf("v%d: hints left out: %v", version, same)
		}
	}
}

// The endpoints of Fetch v16 likewise.
func TestAppendResponseLeavesOutFetchEndpoints(t *testing.T) {
	for version := int16(12); version <= maxFetchVersion; version++ {
		with, without := fetchResponse(version, 1), fetchResponse(version, 1)
		with.Brokers = append(with.Brokers, kmsg.NewFetchResponseBroker())
		header := codec.RequestHeader{Key: 1, Version: version}
		same := bytes.Equal(codec.AppendResponse(nil, header, with), codec.AppendResponse(nil, header, without))
		if same != (version < 16) {
			t.Errorf("v%d: endpoints left out: %v", version, same)
		}
	}
}

func produceResponse(version int16) *kmsg.ProduceResponse {
	response := kmsg.NewPtrProduceResponse()
	response.Version = version
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic = "orders"
	topic.Partitions = append(topic.Partitions, kmsg.NewProduceResponseTopicPartition())
	response.Topics = append(response.Topics, topic)
	return response
}
