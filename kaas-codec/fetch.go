package codec

import (
	"encoding/binary"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FetchCut is a place in an encoded Fetch response where record bytes belong.
type FetchCut struct {
	// At is the index in the encoded bytes before which the records go.
	At int
	// Topic and Partition are indexes into the response: the records are those
	// of Topics[Topic].Partitions[Partition].
	Topic, Partition int
}

// AppendFetchResponse appends a Fetch response without its records to dst, at
// the version that resp has (0 to 16), and returns where the records belong, in
// order. recordBytes says how many bytes they have; they are counted in the size
// prefix and in the records' own length. 0 is an empty record set, which is what
// Kafka sends with an error too, and a negative number is null; neither has a
// cut. The sum must leave the whole response below 2 GiB. RecordBatches of resp
// is ignored.
//
// Build the parts of resp with kmsg's New functions: a zero DivergingEpoch is not
// the same as none and would make a consumer truncate.
func AppendFetchResponse(dst []byte, h RequestHeader, resp *kmsg.FetchResponse, recordBytes func(topic, partition int) int) ([]byte, []FetchCut) {
	start := len(dst)
	e := fetchEncoder{
		dst:         appendResponseHeader(dst, h, resp),
		version:     resp.Version,
		flexible:    resp.IsFlexible(),
		recordBytes: recordBytes,
		cuts:        make([]FetchCut, 0, partitionCount(resp)),
	}
	e.response(resp)
	size := len(e.dst) - start - sizePrefix + e.spliced
	binary.BigEndian.PutUint32(e.dst[start:], uint32(min(size, math.MaxInt32)))
	return e.dst, e.cuts
}

func partitionCount(resp *kmsg.FetchResponse) int {
	count := 0
	for t := range resp.Topics {
		count += len(resp.Topics[t].Partitions)
	}
	return count
}

// fetchEncoder appends the fields of one response, in the order of Kafka's
// FetchResponse definition.
type fetchEncoder struct {
	dst         []byte
	version     int16
	flexible    bool
	recordBytes func(topic, partition int) int
	cuts        []FetchCut
	// spliced counts the record bytes that are not in dst.
	spliced int
}

func (e *fetchEncoder) response(r *kmsg.FetchResponse) {
	if e.version >= 1 {
		e.int32(r.ThrottleMillis)
	}
	if e.version >= 7 {
		e.int16(r.ErrorCode)
		e.int32(r.SessionID)
	}
	e.count(len(r.Topics))
	for t := range r.Topics {
		e.topic(t, &r.Topics[t])
	}
	if !e.flexible {
		return
	}
	known := 0
	if e.version >= 16 && len(r.Brokers) > 0 {
		known = 1
	}
	e.uvarint(known + r.UnknownTags.Len())
	if known > 0 {
		e.nodeEndpoints(r.Brokers)
	}
	e.dst = r.UnknownTags.AppendEach(e.dst)
}

func (e *fetchEncoder) topic(t int, topic *kmsg.FetchResponseTopic) {
	if e.version >= 13 {
		e.dst = append(e.dst, topic.TopicID[:]...)
	} else {
		e.text(topic.Topic)
	}
	e.count(len(topic.Partitions))
	for p := range topic.Partitions {
		e.partition(t, p, &topic.Partitions[p])
	}
	e.unknownTags(&topic.UnknownTags)
}

func (e *fetchEncoder) partition(t, p int, partition *kmsg.FetchResponseTopicPartition) {
	e.int32(partition.Partition)
	e.int16(partition.ErrorCode)
	e.int64(partition.HighWatermark)
	if e.version >= 4 {
		e.int64(partition.LastStableOffset)
	}
	if e.version >= 5 {
		e.int64(partition.LogStartOffset)
	}
	if e.version >= 4 {
		e.abortedTransactions(partition.AbortedTransactions)
	}
	if e.version >= 11 {
		e.int32(partition.PreferredReadReplica)
	}
	e.records(t, p)
	if e.flexible {
		e.partitionTags(partition)
	}
}

func (e *fetchEncoder) abortedTransactions(aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction) {
	if aborted == nil {
		e.count(-1)
		return
	}
	e.count(len(aborted))
	for i := range aborted {
		e.int64(aborted[i].ProducerID)
		e.int64(aborted[i].FirstOffset)
		e.unknownTags(&aborted[i].UnknownTags)
	}
}

// records writes the length of a record set and notes the cut behind it.
func (e *fetchEncoder) records(t, p int) {
	size := max(-1, e.recordBytes(t, p))
	e.count(size)
	if size > 0 {
		e.cuts = append(e.cuts, FetchCut{At: len(e.dst), Topic: t, Partition: p})
		e.spliced += size
	}
}

func (e *fetchEncoder) int16(v int16) {
	e.dst = binary.BigEndian.AppendUint16(e.dst, uint16(v))
}

func (e *fetchEncoder) int32(v int32) {
	e.dst = binary.BigEndian.AppendUint32(e.dst, uint32(v))
}

func (e *fetchEncoder) int64(v int64) {
	e.dst = binary.BigEndian.AppendUint64(e.dst, uint64(v))
}

func (e *fetchEncoder) uvarint(v int) {
	e.dst = binary.AppendUvarint(e.dst, uint64(v))
}

// count writes the length of an array or of bytes; -1 is null.
func (e *fetchEncoder) count(n int) {
	if e.flexible {
		e.uvarint(n + 1)
	} else {
		e.int32(int32(n))
	}
}

func (e *fetchEncoder) text(s string) {
	if e.flexible {
		e.uvarint(len(s) + 1)
	} else {
		e.int16(int16(len(s)))
	}
	e.dst = append(e.dst, s...)
}

func (e *fetchEncoder) unknownTags(tags *kmsg.Tags) {
	if e.flexible {
		e.uvarint(tags.Len())
		e.dst = tags.AppendEach(e.dst)
	}
}
