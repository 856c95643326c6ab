package main

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Sizes of a record batch's beginning: everything up to its last offset delta.
const (
	batchPrefix    = 12 // base offset and length, which counts what follows
	batchBeginning = 27 // up to and including the last offset delta
)

var errEnvelope = errors.New("the fetch answer is not as asked")

// bareFetch makes a request for one partition, so that the answer has one run of records.
func bareFetch(topic string, partition int32, offset int64, most int32) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.Version = fetchVersion
	request.ReplicaID = -1
	request.MinBytes = 1
	request.MaxBytes = most
	request.SessionEpoch = -1
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic = topic
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition = partition
	part.FetchOffset = offset
	part.CurrentLeaderEpoch = -1
	part.LogStartOffset = -1
	part.PartitionMaxBytes = most
	asked.Partitions = append(asked.Partitions, part)
	request.Topics = append(request.Topics, asked)
	return request
}

// fetch sends one request and discards the records as they arrive. It returns their size and the offset after them.
func (w *wire) fetch(request *kmsg.FetchRequest) (bytes, next int64, err error) {
	if err := w.send(request); err != nil {
		return 0, 0, err
	}
	size, err := w.begin()
	if err != nil {
		return 0, 0, err
	}
	asked := request.Topics[0]
	records, err := w.fetchEnvelope(size, len(asked.Topic))
	if err != nil {
		return 0, 0, err
	}
	next, err = w.discardBatches(records, asked.Partitions[0].FetchOffset)
	return int64(records), next, err
}

// fetchEnvelope reads up to the records and returns how many bytes they have.
func (w *wire) fetchEnvelope(size, nameLength int) (int, error) {
	// throttle, error, session, one topic: its name, one partition: its number, error and three offsets, aborted transactions
	head := make([]byte, 4+2+4+4+2+nameLength+4+4+2+24+4)
	if size < len(head)+8 {
		return 0, errEnvelope
	}
	if _, err := io.ReadFull(w.reader, head); err != nil {
		return 0, err
	}
	partition := head[4+2+4+4+2+nameLength+4:]
	for _, code := range []uint16{binary.BigEndian.Uint16(head[4:]), binary.BigEndian.Uint16(partition[4:])} {
		if err := kerr.ErrorForCode(int16(code)); err != nil {
			return 0, err
		}
	}
	aborted := int32(binary.BigEndian.Uint32(partition[4+2+24:]))
	if aborted > 0 {
		return 0, errEnvelope
	}
	var rest [8]byte // preferred replica, size of the records
	if _, err := io.ReadFull(w.reader, rest[:]); err != nil {
		return 0, err
	}
	records := int(int32(binary.BigEndian.Uint32(rest[4:])))
	if size != len(head)+len(rest)+max(records, 0) {
		return 0, errEnvelope
	}
	return max(records, 0), nil
}

// discardBatches reads the beginning of each batch and drops the rest. The last batch may be cut off: it does not count.
func (w *wire) discardBatches(size int, next int64) (int64, error) {
	for size >= batchBeginning {
		head, err := w.reader.Peek(batchBeginning)
		if err != nil {
			return 0, err
		}
		length := batchPrefix + int(binary.BigEndian.Uint32(head[8:]))
		if length > size {
			break
		}
		next = int64(binary.BigEndian.Uint64(head)) + int64(binary.BigEndian.Uint32(head[23:])) + 1
		if _, err := w.reader.Discard(length); err != nil {
			return 0, err
		}
		size -= length
	}
	_, err := w.reader.Discard(size)
	return next, err
}
