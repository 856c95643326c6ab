package api_test

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// writer is a producer that has registered under a transactional id.
type writer struct {
	b        *bench
	name     string
	id       int64
	epoch    int16
	sequence int32
}

func (b *bench) writer(name string) *writer {
	b.t.Helper()
	response := ask[*kmsg.InitProducerIDResponse](b, initRequest(4, name))
	expectCode(b.t, "init "+name, response.ErrorCode, nil)
	return &writer{b: b, name: name, id: response.ProducerID, epoch: response.ProducerEpoch}
}

func initRequest(version int16, name string) *kmsg.InitProducerIDRequest {
	request := kmsg.NewPtrInitProducerIDRequest()
	request.Version, request.TransactionalID, request.TransactionTimeoutMillis = version, &name, 60_000
	return request
}

func (w *writer) addRequest(version int16, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.Version, request.TransactionalID, request.ProducerID, request.ProducerEpoch = version, w.name, w.id, w.epoch
	request.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
	request.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{
		TransactionalID: w.name, ProducerID: w.id, ProducerEpoch: w.epoch,
		Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: topic, Partitions: partitions}},
	}}
	return request
}

// add returns the codes of the partitions.
func (w *writer) add(version int16, topic string, partitions ...int32) []int16 {
	w.b.t.Helper()
	response := ask[*kmsg.AddPartitionsToTxnResponse](w.b, w.addRequest(version, topic, partitions...))
	var codes []int16
	for _, row := range response.Topics {
		for _, partition := range row.Partitions {
			codes = append(codes, partition.ErrorCode)
		}
	}
	for _, transaction := range response.Transactions {
		for _, row := range transaction.Topics {
			for _, partition := range row.Partitions {
				codes = append(codes, partition.ErrorCode)
			}
		}
	}
	return codes
}

func (w *writer) addGroup(version int16, group string) int16 {
	w.b.t.Helper()
	request := kmsg.NewPtrAddOffsetsToTxnRequest()
	request.Version, request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = version, w.name, w.id, w.epoch, group
	return ask[*kmsg.AddOffsetsToTxnResponse](w.b, request).ErrorCode
}

func (w *writer) end(version int16, commit bool) int16 {
	w.b.t.Helper()
	request := kmsg.NewPtrEndTxnRequest()
	request.Version, request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit = version, w.name, w.id, w.epoch, commit
	return ask[*kmsg.EndTxnResponse](w.b, request).ErrorCode
}

func (w *writer) stage(version int16, group, topic string, at int64) int16 {
	w.b.t.Helper()
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.Version, request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = version, w.name, w.id, w.epoch, group
	request.Generation = -1
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = at
	request.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{partition}}}
	return ask[*kmsg.TxnOffsetCommitResponse](w.b, request).Topics[0].Partitions[0].ErrorCode
}

func (w *writer) produceRequest(topic string, values ...string) *kmsg.ProduceRequest {
	data := build(w.b.t, func(b *batch.Builder) {
		b.Transactional, b.ProducerID, b.ProducerEpoch, b.BaseSequence = true, w.id, w.epoch, w.sequence
	}, values...)
	request := produceRequest(10, -1, topic, 0, data)
	request.TransactionID = &w.name
	return request
}

// produce returns the code; what is accepted moves the sequence on.
func (w *writer) produce(topic string, values ...string) int16 {
	w.b.t.Helper()
	row := ask[*kmsg.ProduceResponse](w.b, w.produceRequest(topic, values...)).Topics[0].Partitions[0]
	if row.ErrorCode == 0 {
		w.sequence += int32(len(values))
	}
	return row.ErrorCode
}

// settle waits until the markers of the last transaction are placed.
func (w *writer) settle() {
	w.b.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if state := w.b.describeTransaction(w.name).State; state == "CompleteCommit" || state == "CompleteAbort" {
			return
		}
	}
	w.b.t.Fatalf("transaction %s does not complete", w.name)
}

func (b *bench) describeTransaction(name string) kmsg.DescribeTransactionsResponseTransactionState {
	b.t.Helper()
	request := kmsg.NewPtrDescribeTransactionsRequest()
	request.TransactionalIDs = []string{name}
	return ask[*kmsg.DescribeTransactionsResponse](b, request).TransactionStates[0]
}

// fetchCommitted is what a reader of committed records is answered.
func (b *bench) fetchCommitted(topic *catalog.Topic, offset int64) kmsg.FetchResponseTopicPartition {
	b.t.Helper()
	request := fetchRequest(12, topic, 0, offset)
	request.IsolationLevel = 1
	return b.fetch(request).Topics[0].Partitions[0]
}
