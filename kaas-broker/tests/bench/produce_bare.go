package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// runProduceBare sends one prepared request again and again on each of eight connections, to show the broker without the client's work.
func runProduceBare(ctx context.Context, l *lap) error {
	const topic = "bare"
	if err := l.server.createTopic(ctx, topic, eight); err != nil {
		return err
	}
	batch := preparedBatch(l.values)
	count := int(l.settings.EightBytes / int64(len(batch)) / eight)
	return l.besideDisk(produceBare, l.probeLarge, func() (float64, error) {
		failures := make([]error, eight)
		began := time.Now()
		var connections sync.WaitGroup
		for i := range eight {
			connections.Go(func() { failures[i] = repeat(l.server.address, preparedProduce(topic, int32(i), batch), count) })
		}
		connections.Wait()
		return megabytesPerSecond(int64(count*eight*len(batch)), time.Since(began)), errors.Join(failures...)
	})
}

// preparedBatch is as large as the real client's batches.
func preparedBatch(values payloads) []byte {
	var records []byte
	count := 0
	for ; len(records)+recordSize+32 < batchBytes; count++ {
		record := kmsg.NewRecord()
		record.OffsetDelta = int32(count)
		record.Value = values[count%len(values)]
		body := record.AppendTo(nil)[1:] // without the length, which is still 0
		records = binary.AppendVarint(records, int64(len(body)))
		records = append(records, body...)
	}
	batch := kmsg.NewRecordBatch()
	batch.PartitionLeaderEpoch = -1
	batch.Magic = 2
	batch.LastOffsetDelta = int32(count - 1)
	batch.FirstTimestamp = time.Now().UnixMilli()
	batch.MaxTimestamp = batch.FirstTimestamp
	batch.ProducerID, batch.ProducerEpoch, batch.FirstSequence = -1, -1, -1
	batch.NumRecords = int32(count)
	batch.Records = records
	encoded := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(encoded[8:], uint32(len(encoded)-batchPrefix))
	binary.BigEndian.PutUint32(encoded[17:], crc32.Checksum(encoded[21:], crc32.MakeTable(crc32.Castagnoli)))
	return encoded
}

// preparedProduce is a whole request with its size.
func preparedProduce(topic string, partition int32, batch []byte) []byte {
	request := kmsg.NewPtrProduceRequest()
	request.Version = produceVersion
	request.Acks = -1
	request.TimeoutMillis = int32(wireTimeout.Milliseconds())
	asked := kmsg.NewProduceRequestTopic()
	asked.Topic = topic
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition = partition
	part.Records = batch
	asked.Partitions = append(asked.Partitions, part)
	request.Topics = append(request.Topics, asked)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("bench")).AppendRequest(nil, request, 1)
}

// repeat sends a request so many times on one connection, with at most inFlight unanswered.
func repeat(address string, request []byte, count int) error {
	w, err := dial(address)
	if err != nil {
		return err
	}
	defer w.close()
	window := make(chan struct{}, inFlight)
	answers := make(chan error, 1)
	go func() { answers <- w.readAnswers(count, window) }()
	for range count {
		window <- struct{}{}
		if _, err := w.socket.Write(request); err != nil {
			w.close() // ends the reader
			return errors.Join(err, <-answers)
		}
	}
	return <-answers
}

// readAnswers frees one place of the window for each answer, and all of them when it ends with an error.
func (w *wire) readAnswers(count int, window chan struct{}) error {
	for i := range count {
		if err := w.readProduced(); err != nil {
			w.close() // ends the writer
			for range count - i {
				select {
				case <-window:
				default:
				}
			}
			return err
		}
		<-window
	}
	return nil
}

func (w *wire) readProduced() error {
	if err := w.socket.SetDeadline(time.Now().Add(wireTimeout)); err != nil {
		return err
	}
	size, err := w.begin()
	if err != nil {
		return err
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(w.reader, body); err != nil {
		return err
	}
	response := kmsg.NewPtrProduceResponse()
	response.Version = produceVersion
	if err := response.ReadFrom(body); err != nil {
		return err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return fmt.Errorf("produce: an answer about something else")
	}
	return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
}
