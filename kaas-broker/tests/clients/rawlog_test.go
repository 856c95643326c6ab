package clients

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// rawLog is the only partition of a topic, written batch by batch, so that two brokers get the very same, and read batch by batch, so that the smallest difference shows. Its
// requests are those of Kafka 3.0, which still call topics by their names.
type rawLog struct {
	t      *testing.T
	broker *harness.Broker
	client *kgo.Client
	topic  string
	base   int64 // timestamps count from here
	end    int64
	ids    map[int64]string // of producers, by what they are called
	names  map[string]*rawProducer
}

type rawProducer struct {
	id            int64
	epoch         int16
	sequence      int32
	transactional bool
	begun         bool
}

func newRawLog(t *testing.T, broker *harness.Broker, topic string, base int64, configs ...string) *rawLog {
	t.Helper()
	createTopic(t, broker.Bootstrap(), topic, 1, configs...)
	return &rawLog{
		t: t, broker: broker, client: newFranz(t, broker.Bootstrap(), kgo.MaxVersions(kversion.V3_0_0())), topic: topic, base: base, ids: map[int64]string{}, names: map[string]*rawProducer{},
	}
}

// producer returns one by its name; those whose name begins with t are transactional.
func (l *rawLog) producer(name string) *rawProducer {
	l.t.Helper()
	if p, known := l.names[name]; known {
		return p
	}
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionTimeoutMillis = 60_000
	if strings.HasPrefix(name, "t") {
		id := l.transactionalID(name)
		request.TransactionalID = &id
	}
	var p *rawProducer
	eventually(l.t, time.Minute, func() error {
		response, err := request.RequestWith(l.t.Context(), l.client)
		if err == nil {
			err = kerr.ErrorForCode(response.ErrorCode)
		}
		if err == nil {
			p = &rawProducer{id: response.ProducerID, epoch: response.ProducerEpoch, transactional: request.TransactionalID != nil}
		}
		return err
	})
	l.names[name], l.ids[p.id] = p, name
	return p
}

func (l *rawLog) transactionalID(name string) string { return l.topic + "-" + name }

// data appends one batch. Words are key=value; key alone is a deletion, =value has no key.
func (l *rawLog) data(producer string, codec batch.Compression, words ...string) {
	l.t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = codec
	if producer != "" {
		p := l.producer(producer)
		l.join(producer, p)
		builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = p.id, p.epoch, p.sequence, p.transactional
		p.sequence += int32(len(words))
	}
	for i, word := range words {
		key, value, hasValue := strings.Cut(word, "=")
		k, v := []byte(key), []byte(value)
		if key == "" {
			k = nil
		}
		if !hasValue {
			v = nil
		}
		builder.Add(l.base+10*l.end-int64(i), k, v, batch.Header{Key: "at", Value: fmt.Append(nil, l.end+int64(i))})
	}
	b, err := builder.Build()
	if err != nil {
		l.t.Fatal(err)
	}
	l.produce(producer, b)
	l.await(l.end + int64(len(words)))
}

func (l *rawLog) produce(producer string, b batch.Batch) {
	l.t.Helper()
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 10_000
	if strings.HasPrefix(producer, "t") {
		id := l.transactionalID(producer)
		request.TransactionID = &id
	}
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = b
	asked := kmsg.NewProduceRequestTopic()
	asked.Topic = l.topic
	asked.Partitions = append(asked.Partitions, partition)
	request.Topics = append(request.Topics, asked)
	eventually(l.t, time.Minute, func() error {
		response, err := l.client.Broker(0).Request(l.t.Context(), request)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode)
	})
}

// join makes the partition part of the transaction.
func (l *rawLog) join(name string, p *rawProducer) {
	l.t.Helper()
	if !p.transactional || p.begun {
		return
	}
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch = l.transactionalID(name), p.id, p.epoch
	asked := kmsg.NewAddPartitionsToTxnRequestTopic()
	asked.Topic, asked.Partitions = l.topic, []int32{0}
	request.Topics = append(request.Topics, asked)
	eventually(l.t, time.Minute, func() error {
		response, err := request.RequestWith(l.t.Context(), l.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	})
	p.begun = true
}

// finish ends a transaction and waits for its marker.
func (l *rawLog) finish(name string, commit bool) {
	l.t.Helper()
	p := l.producer(name)
	request := kmsg.NewPtrEndTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit = l.transactionalID(name), p.id, p.epoch, commit
	eventually(l.t, time.Minute, func() error {
		response, err := request.RequestWith(l.t.Context(), l.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.ErrorCode)
	})
	p.begun = false
	l.await(l.end + 1)
}

// await waits until the log ends there.
func (l *rawLog) await(end int64) {
	l.t.Helper()
	eventually(l.t, time.Minute, func() error {
		if got := endOffset(l.t, l.broker.Bootstrap(), l.topic, 0); got != end {
			return fmt.Errorf("the log ends at %d, not at %d", got, end)
		}
		return nil
	})
	l.end = end
}

// roll appends a batch that fills a segment, so that the one before it is closed.
func (l *rawLog) roll(segmentBytes int) {
	l.t.Helper()
	l.data("", batch.None, "filler="+strings.Repeat("f", segmentBytes-200))
}

// configure sets a topic configuration.
func (l *rawLog) configure(name, value string) {
	l.t.Helper()
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, l.topic
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = name, &value
	resource.Configs = append(resource.Configs, config)
	request.Resources = append(request.Resources, resource)
	eventually(l.t, time.Minute, func() error {
		response, err := request.RequestWith(l.t.Context(), l.client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(response.Resources[0].ErrorCode)
	})
}

// batches fetches all of the log.
func (l *rawLog) batches(committed bool) ([]batch.Batch, []kmsg.FetchResponseTopicPartitionAbortedTransaction) {
	l.t.Helper()
	var all []batch.Batch
	var aborted []kmsg.FetchResponseTopicPartitionAbortedTransaction
	for next := int64(0); next < l.end; {
		partition := l.fetch(next, committed)
		aborted = append(aborted, partition.AbortedTransactions...)
		for rest := partition.RecordBatches; len(rest) > 0; {
			b, behind, err := batch.Next(rest)
			if err != nil {
				l.t.Fatalf("fetched from offset %d: %v", next, err)
			}
			if !b.ValidCRC() {
				l.t.Fatalf("batch at offset %d has a wrong CRC", b.BaseOffset())
			}
			all, next, rest = append(all, b), b.LastOffset()+1, behind
		}
	}
	return all, aborted
}

func (l *rawLog) fetch(offset int64, committed bool) kmsg.FetchResponseTopicPartition {
	l.t.Helper()
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 1000, 1, math.MaxInt32
	request.ReplicaID, request.SessionEpoch = -1, -1
	if committed {
		request.IsolationLevel = 1
	}
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic = l.topic
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.FetchOffset, partition.PartitionMaxBytes, partition.LogStartOffset, partition.CurrentLeaderEpoch = offset, math.MaxInt32, -1, -1
	asked.Partitions = append(asked.Partitions, partition)
	request.Topics = append(request.Topics, asked)
	var got *kmsg.FetchResponse
	eventually(l.t, time.Minute, func() error { // the first request after a restart meets a dead connection
		response, err := l.client.Broker(0).Request(l.t.Context(), request)
		if err == nil {
			got = response.(*kmsg.FetchResponse)
		}
		return err
	})
	if got.ErrorCode != 0 || len(got.Topics) != 1 || got.Topics[0].Partitions[0].ErrorCode != 0 {
		l.t.Fatalf("fetch from offset %d: %+v", offset, got)
	}
	return got.Topics[0].Partitions[0]
}

// show writes a batch with everything that two brokers must agree on.
func (l *rawLog) show(b batch.Batch) string {
	producer := "-"
	if b.ProducerID() >= 0 {
		producer = fmt.Sprintf("%s/%d/%d", l.ids[b.ProducerID()], b.ProducerEpoch(), b.BaseSequence())
	}
	line := fmt.Sprintf("%d-%d %s %s transactional=%v", b.BaseOffset(), b.LastOffset(), producer, b.Compression(), b.Transactional())
	_, horizon := b.DeleteHorizon()
	if horizon {
		line += " horizon"
	}
	if b.Control() {
		return line + fmt.Sprintf(" control records=%d", b.Count())
	}
	line += fmt.Sprintf(" max=%d", b.MaxTimestamp()-l.base)
	if !horizon && b.Count() > 0 {
		line += fmt.Sprintf(" base=%d", b.BaseTimestamp()-l.base)
	}
	for record, err := range b.Records(nil, batch.SiteTool, 0) {
		if err != nil {
			return line + " " + err.Error()
		}
		line += fmt.Sprintf(" [%d %q=%.8q null=%v at %d %s]", b.BaseOffset()+int64(record.OffsetDelta), record.Key, record.Value, record.Value == nil,
			b.BaseTimestamp()+record.TimestampDelta-l.base, record.Headers[0].Value)
	}
	return line
}

// shown is the whole log, for those who read everything, or what is delivered to those who read what is committed.
func (l *rawLog) shown(committed bool) []string {
	l.t.Helper()
	var lines []string
	if committed {
		for _, r := range l.visible() {
			lines = append(lines, fmt.Sprintf("%.30q", r))
		}
		return lines
	}
	batches, _ := l.batches(false)
	for _, b := range batches {
		lines = append(lines, l.show(b))
	}
	return lines
}

// visible are the records that a reader of what is committed delivers.
func (l *rawLog) visible() []record {
	l.t.Helper()
	batches, aborted := l.batches(true)
	leftOut := map[int64]bool{}
	var records []record
	for _, b := range batches {
		for len(aborted) > 0 && aborted[0].FirstOffset <= b.LastOffset() {
			leftOut[aborted[0].ProducerID] = true
			aborted = aborted[1:]
		}
		if b.Control() {
			if m, ends, err := b.Marker(nil); err == nil && ends && !m.Commit {
				delete(leftOut, b.ProducerID())
			}
			continue
		}
		if b.Transactional() && leftOut[b.ProducerID()] {
			continue
		}
		for r, err := range b.Records(nil, batch.SiteTool, 0) {
			if err != nil {
				l.t.Fatal(err)
			}
			records = append(records, record{Key: string(r.Key), Value: string(r.Value)})
		}
	}
	return records
}

// repeated counts the records that a compaction has to remove below the filler that ends the log: all but the newest of each key, those without key, the aborted ones.
func (l *rawLog) repeated() int {
	l.t.Helper()
	seen := map[string]int{}
	superfluous := 0
	batches, _ := l.batches(false)
	for _, b := range batches {
		if b.Control() || b.LastOffset() == l.end-1 {
			continue
		}
		for r := range b.Records(nil, batch.SiteTool, 0) {
			if r.Key == nil || strings.HasPrefix(string(r.Value), "aborted") {
				superfluous++
			}
			seen[string(r.Key)]++
			if seen[string(r.Key)] > 1 {
				superfluous++
			}
		}
	}
	return superfluous
}
