package clients

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// rawBatch is a record batch with one record, in the layout that Kafka calls magic 2.
type rawBatch struct {
	magic           int8
	attributes      int16
	timestamp       int64
	count           int32
	lastOffsetDelta int32
	spoilCRC        bool
	cut             int
}

func goodBatch() rawBatch { return rawBatch{magic: 2, timestamp: time.Now().UnixMilli(), count: 1} }

func (b rawBatch) encode() []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(b.attributes))
	body = binary.BigEndian.AppendUint32(body, uint32(b.lastOffsetDelta))
	body = binary.BigEndian.AppendUint64(body, uint64(b.timestamp))
	body = binary.BigEndian.AppendUint64(body, uint64(b.timestamp))
	body = binary.BigEndian.AppendUint64(body, ^uint64(0)) // no producer id
	body = binary.BigEndian.AppendUint16(body, ^uint16(0)) // no producer epoch
	body = binary.BigEndian.AppendUint32(body, ^uint32(0)) // no sequence
	body = binary.BigEndian.AppendUint32(body, uint32(b.count))
	// One record: its length, attributes, timestamp delta, offset delta, key of 1 byte, value of 1 byte, no headers; as zigzag numbers.
	body = append(body, 16, 0, 0, 0, 2, 'k', 2, 'v', 0)
	sum := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))
	if b.spoilCRC {
		sum++
	}
	batch := binary.BigEndian.AppendUint64(nil, 0)
	batch = binary.BigEndian.AppendUint32(batch, uint32(4+1+4+len(body)))
	batch = binary.BigEndian.AppendUint32(batch, ^uint32(0))
	batch = append(batch, byte(b.magic))
	batch = binary.BigEndian.AppendUint32(batch, sum)
	batch = append(batch, body...)
	return batch[:len(batch)-b.cut]
}

// Batches that must not enter a log answer their Kafka error, and the log stays as it was.
func TestBatchesThatAreRefused(t *testing.T) {
	broker := harness.Start(t, harness.Options{Decodes: []string{"timestamp-bounds"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1, "message.timestamp.before.max.ms", "3600000", "message.timestamp.after.max.ms", "3600000")
	for _, tested := range []struct {
		name   string
		change func(*rawBatch)
		want   *kerr.Error
	}{
		{"good", func(*rawBatch) {}, nil},
		{"wrong CRC", func(b *rawBatch) { b.spoilCRC = true }, kerr.CorruptMessage},
		{"magic 3", func(b *rawBatch) { b.magic = 3 }, kerr.CorruptMessage},
		{"magic 1 in a new request", func(b *rawBatch) { b.magic = 1 }, kerr.InvalidRecord},
		{"cut off", func(b *rawBatch) { b.cut = 3 }, kerr.InvalidRecord},
		{"count above its records", func(b *rawBatch) { b.count = 2 }, kerr.InvalidRecord},
		{"last offset above its records", func(b *rawBatch) { b.lastOffsetDelta = 5 }, kerr.InvalidRecord},
		{"no records", func(b *rawBatch) { b.count = 0 }, kerr.InvalidRecord},
		{"control batch", func(b *rawBatch) { b.attributes = 0x20 }, kerr.InvalidRecord},
		{"two hours old", func(b *rawBatch) { b.timestamp -= 2 * 3600_000 }, kerr.InvalidTimestamp},
		{"two hours ahead", func(b *rawBatch) { b.timestamp += 2 * 3600_000 }, kerr.InvalidTimestamp},
		{"good again", func(*rawBatch) {}, nil},
	} {
		t.Run(tested.name, func(t *testing.T) {
			before := endOffset(t, broker.Bootstrap(), topic, 0)
			batch := goodBatch()
			tested.change(&batch)
			got := produceRaw(t, broker.Bootstrap(), topic, batch.encode())
			if tested.want == nil {
				if got != 0 || endOffset(t, broker.Bootstrap(), topic, 0) != before+1 {
					t.Errorf("a good batch answers %v", kerr.ErrorForCode(got))
				}
				return
			}
			if got != tested.want.Code {
				t.Errorf("answers %v, want %v", kerr.ErrorForCode(got), tested.want)
			}
			if after := endOffset(t, broker.Bootstrap(), topic, 0); after != before {
				t.Errorf("the log grew from %d to %d", before, after)
			}
		})
	}
}

// produceRaw sends bytes as the records of partition 0 and returns the partition's error code.
func produceRaw(t *testing.T, address, topic string, records []byte) int16 {
	t.Helper()
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 10_000
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = records
	asked := kmsg.NewProduceRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, partition)
	request.Topics = append(request.Topics, asked)
	client := newFranz(t, address)
	response, err := client.Broker(0).Request(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
}
