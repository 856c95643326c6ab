//go:build unix

package main

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestSignalEndsInGoodOrder(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			p.signal(t, sent)
			p.exits(t, exitOK, "draining", "kaas ended in good order")
		})
	}
}

// A client that does not take its response keeps the drain waiting; the second signal does not.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, "--override", "message.max.bytes=2000000")
	topic := fillTopic(t, p.address, 16)
	stuck := fetchWithoutReading(t, p.address, topic)
	defer stuck.Close()
	p.signal(t, syscall.SIGTERM)
	p.await(t, "draining")
	began := time.Now()
	p.signal(t, syscall.SIGTERM)
	p.exits(t, exitForced, "ended without draining")
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("ended %v after the second signal", took)
	}
}

// fillTopic writes so many records of a mebibyte.
func fillTopic(t *testing.T, address string, records int) (topicID [16]byte) {
	t.Helper()
	client := newClient(t, address, kgo.ProducerBatchMaxBytes(2_000_000), kgo.ProducerBatchCompression(kgo.NoCompression()))
	for range records {
		produce(t, client, "large", strings.Repeat("x", 1<<20))
	}
	request := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = kmsg.StringPtr("large")
	request.Topics = []kmsg.MetadataRequestTopic{topic}
	response, err := request.RequestWith(within(t), client)
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].TopicID
}

// fetchWithoutReading asks for everything on a connection of its own and reads the size of the response, and no more.
func fetchWithoutReading(t *testing.T, address string, topicID [16]byte) net.Conn {
	t.Helper()
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = 1 << 30
	topic := kmsg.NewFetchRequestTopic()
	topic.TopicID, topic.Partitions = topicID, []kmsg.FetchRequestTopicPartition{partition}
	request := kmsg.NewPtrFetchRequest()
	request.SetVersion(13)
	request.ReplicaID, request.MaxBytes, request.Topics = -1, 1<<30, []kmsg.FetchRequestTopic{topic}
	frame := kmsg.NewRequestFormatter().AppendRequest(nil, request, 1)

	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(frame); err != nil {
		t.Fatal(err)
	}
	size := make([]byte, 4)
	if _, err := io.ReadFull(conn, size); err != nil {
		t.Fatal(err)
	}
	if got := binary.BigEndian.Uint32(size); got < 12<<20 {
		t.Fatalf("the response has %d bytes, too few to fill the buffers", got)
	}
	return conn
}
