package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of bare requests: the newest ones whose headers and bodies have no tagged fields, so that answers can be read as they arrive.
const (
	metadataVersion     = 8
	createTopicsVersion = 4
	listOffsetsVersion  = 5
	fetchVersion        = 11
	produceVersion      = 8

	findCoordinatorVersion = 2
	offsetCommitVersion    = 7
	offsetFetchVersion     = 5
)

// readBuffer is what one system call reads at most, here and in the probe of the loopback.
const readBuffer = 256 << 10

// wireTimeout bounds a request and its answer.
const wireTimeout = 2 * time.Minute

// wire is one connection without a client library. One goroutine at a time may use it.
type wire struct {
	socket      net.Conn
	reader      *bufio.Reader
	formatter   *kmsg.RequestFormatter
	correlation int32
	frame       []byte
}

func dial(address string) (*wire, error) {
	socket, err := net.DialTimeout("tcp", address, wireTimeout) //nolint:noctx // the timeout is enough
	if err != nil {
		return nil, err
	}
	return &wire{
		socket:    socket,
		reader:    bufio.NewReaderSize(socket, readBuffer),
		formatter: kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")),
	}, nil
}

func (w *wire) close() { _ = w.socket.Close() }

// send writes one request.
func (w *wire) send(request kmsg.Request) error {
	w.correlation++
	w.frame = w.formatter.AppendRequest(w.frame[:0], request, w.correlation)
	if err := w.socket.SetDeadline(time.Now().Add(wireTimeout)); err != nil {
		return err
	}
	_, err := w.socket.Write(w.frame)
	return err
}

// begin reads the size and correlation id of an answer and returns how many bytes follow.
func (w *wire) begin() (int, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(w.reader, prefix[:]); err != nil {
		return 0, err
	}
	return int(binary.BigEndian.Uint32(prefix[:])) - 4, nil
}

// ask sends a request and reads its whole answer.
func (w *wire) ask(request kmsg.Request) (kmsg.Response, error) {
	if err := w.send(request); err != nil {
		return nil, err
	}
	size, err := w.begin()
	if err != nil {
		return nil, err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(w.reader, body); err != nil {
		return nil, err
	}
	response := request.ResponseKind()
	response.SetVersion(request.GetVersion())
	return response, response.ReadFrom(body)
}

// metadata asks for topics; nil asks for the brokers alone.
func (w *wire) metadata(topics []string) (*kmsg.MetadataResponse, error) {
	request := kmsg.NewPtrMetadataRequest()
	request.Version = metadataVersion
	request.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, topic)
	}
	response, err := w.ask(request)
	if err != nil {
		return nil, err
	}
	return response.(*kmsg.MetadataResponse), nil
}

// endOffsets is the high watermark of each partition of a topic.
func (w *wire) endOffsets(topic string, partitions int) ([]int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	request.Version = listOffsetsVersion
	request.ReplicaID = -1
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = topic
	for p := range int32(partitions) {
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition = p
		part.Timestamp = -1
		asked.Partitions = append(asked.Partitions, part)
	}
	request.Topics = append(request.Topics, asked)
	response, err := w.ask(request)
	if err != nil {
		return nil, err
	}
	answer := response.(*kmsg.ListOffsetsResponse)
	if len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != partitions {
		return nil, fmt.Errorf("list offsets of %s: an answer about something else", topic)
	}
	ends := make([]int64, partitions)
	for _, found := range answer.Topics[0].Partitions {
		if err := kerr.ErrorForCode(found.ErrorCode); err != nil {
			return nil, fmt.Errorf("list offsets of %s-%d: %w", topic, found.Partition, err)
		}
		ends[found.Partition] = found.Offset
	}
	return ends, nil
}
