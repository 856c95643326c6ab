package codec_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec"
)

const maxFetchVersion = 16

// splice puts the records of a response where the cuts say.
func splice(envelope []byte, cuts []codec.FetchCut, r *kmsg.FetchResponse) []byte {
	var whole []byte
	from := 0
	for _, cut := range cuts {
		whole = append(whole, envelope[from:cut.At]...)
		whole = append(whole, r.Topics[cut.Topic].Partitions[cut.Partition].RecordBatches...)
		from = cut.At
	}
	return append(whole, envelope[from:]...)
}

// recordsOf measures the records that kmsg would encode; nil is null.
func recordsOf(r *kmsg.FetchResponse) func(topic, partition int) int {
	return func(topic, partition int) int {
		records := r.Topics[topic].Partitions[partition].RecordBatches
		if records == nil {
			return -1
		}
		return len(records)
	}
}

func TestAppendFetchResponseEqualsOrdinaryEncoding(t *testing.T) {
	for version := int16(0); version <= maxFetchVersion; version++ {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(version)))
			spliced := 0
			for range 200 {
				response := kmsg.NewPtrFetchResponse()
				fill(random, response)
				response.Version = version
				if version < 16 {
					response.Brokers = nil
				}
				if random.IntN(2) == 0 {
					resetPartitionTags(response)
				}
				header := codec.RequestHeader{Key: 1, Version: version, CorrelationID: random.Int32()}
				before := []byte("kept")
				envelope, cuts := codec.AppendFetchResponse(bytes.Clone(before), header, response, recordsOf(response))
				got := splice(envelope, cuts, response)
				want := codec.AppendResponse(bytes.Clone(before), header, response)
				if !bytes.Equal(got, want) {
					t.Fatalf("got\n%x, want\n%x", got, want)
				}
				spliced += len(cuts)
			}
			if spliced == 0 {
				t.Error("no sample had records")
			}
		})
	}
}

// resetPartitionTags makes the optional parts of every partition absent.
func resetPartitionTags(r *kmsg.FetchResponse) {
	fresh := kmsg.NewFetchResponseTopicPartition()
	for t := range r.Topics {
		partitions := r.Topics[t].Partitions
		for p := range partitions {
			partitions[p].DivergingEpoch = fresh.DivergingEpoch
			partitions[p].CurrentLeader = fresh.CurrentLeader
			partitions[p].SnapshotID = fresh.SnapshotID
		}
	}
}

func TestAppendFetchResponseLeavesOutEndpointsBeforeV16(t *testing.T) {
	for version := int16(12); version <= maxFetchVersion; version++ {
		with, without := fetchResponse(version, 1), fetchResponse(version, 1)
		broker := kmsg.NewFetchResponseBroker()
		broker.Host = "host"
		with.Brokers = append(with.Brokers, broker)
		none := func(int, int) int { return 0 }
		header := codec.RequestHeader{Key: 1, Version: version}
		a, _ := codec.AppendFetchResponse(nil, header, with, none)
		b, _ := codec.AppendFetchResponse(nil, header, without, none)
		if bytes.Equal(a, b) != (version < 16) {
			t.Errorf("v%d: endpoints left out: %v", version, bytes.Equal(a, b))
		}
	}
}

// Long contents need a length of more than one byte in front of them.
func TestAppendFetchResponseLongTag(t *testing.T) {
	for _, length := range []int{100, 127, 128, 20_000} {
		response := fetchResponse(16, 1)
		broker := kmsg.NewFetchResponseBroker()
		broker.Host = string(bytes.Repeat([]byte("h"), length))
		response.Brokers = append(response.Brokers, broker)
		header := codec.RequestHeader{Key: 1, Version: 16}
		got, _ := codec.AppendFetchResponse(nil, header, response, func(int, int) int { return -1 })
		if want := codec.AppendResponse(nil, header, response); !bytes.Equal(got, want) {
			t.Errorf("host of %d bytes: got\n%x, want\n%x", length, got, want)
		}
	}
}

func TestAppendFetchResponseCuts(t *testing.T) {
	response := fetchResponse(4, 3)
	sizes := []int{1 << 30, 0, 5}
	envelope, cuts := codec.AppendFetchResponse(nil, codec.RequestHeader{Key: 1, Version: 4}, response, func(_, p int) int { return sizes[p] })
	if size := int(binary.BigEndian.Uint32(envelope)); size != len(envelope)-4+1<<30+5 {
		t.Errorf("size prefix %d for an envelope of %d bytes", size, len(envelope))
	}
	if len(cuts) != 2 || cuts[0].Partition != 0 || cuts[1].Partition != 2 {
		t.Fatalf("cuts %+v", cuts)
	}
	for i, want := range []uint32{1 << 30, 5} {
		if got := binary.BigEndian.Uint32(envelope[cuts[i].At-4:]); got != want {
			t.Errorf("cut %d: length %d in front, want %d", i, got, want)
		}
	}
	if cuts[1].At != len(envelope) {
		t.Errorf("last cut at %d of %d", cuts[1].At, len(envelope))
	}
}

func fetchResponse(version int16, partitions int) *kmsg.FetchResponse {
	response := kmsg.NewPtrFetchResponse()
	response.Version = version
	topic := kmsg.NewFetchResponseTopic()
	topic.Topic = "orders"
	for p := range partitions {
		partition := kmsg.NewFetchResponseTopicPartition()
		partition.Partition = int32(p)
		topic.Partitions = append(topic.Partitions, partition)
	}
	response.Topics = append(response.Topics, topic)
	return response
}
