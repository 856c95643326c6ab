package transcripts

import (
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// producer is one that has registered under a transactional id.
type producer struct {
	transactional string
	id            int64
	epoch         int16
}

// at is the producer with another epoch.
func (p producer) at(epoch int16) producer {
	p.epoch = epoch
	return p
}

// named is the producer under another transactional id.
func (p producer) named(id string) producer {
	p.transactional = id
	return p
}

// initializing registers a producer that does not say who it was.
func initializing(id string) *kmsg.InitProducerIDRequest {
	return returning(producer{transactional: id, id: -1, epoch: -1})
}

// returning registers a producer that says who it was.
func returning(p producer) *kmsg.InitProducerIDRequest {
	request := kmsg.NewPtrInitProducerIDRequest()
	request.TransactionalID, request.TransactionTimeoutMillis = &p.transactional, 60000
	request.ProducerID, request.ProducerEpoch = p.id, p.epoch
	return request
}

// adding adds partitions of a topic to a transaction, at every version.
func adding(p producer, topic string, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	request := kmsg.NewPtrAddPartitionsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch = p.transactional, p.id, p.epoch
	request.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: partitions}}
	request.Transactions = []kmsg.AddPartitionsToTxnRequestTransaction{{
		TransactionalID: p.transactional, ProducerID: p.id, ProducerEpoch: p.epoch,
		Topics: []kmsg.AddPartitionsToTxnRequestTransactionTopic{{Topic: topic, Partitions: partitions}},
	}}
	return request
}

// verifying asks whether partitions of the script's topic are part of a transaction, from v4 on.
func verifying(p producer, partitions ...int32) *kmsg.AddPartitionsToTxnRequest {
	request := adding(p, "add-partitions-to-txn", partitions...)
	request.Transactions[0].VerifyOnly = true
	return request
}

func addingGroup(p producer, group string) *kmsg.AddOffsetsToTxnRequest {
	request := kmsg.NewPtrAddOffsetsToTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = p.transactional, p.id, p.epoch, group
	return request
}

func ended(p producer, commit bool) *kmsg.EndTxnRequest {
	request := kmsg.NewPtrEndTxnRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Commit = p.transactional, p.id, p.epoch, commit
	return request
}

// staging commits an offset in a transaction, of nobody in particular.
func staging(p producer, group, topic string, partition int32, at int64) *kmsg.TxnOffsetCommitRequest {
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.ProducerID, request.ProducerEpoch, request.Group = p.transactional, p.id, p.epoch, group
	request.Generation = simple
	committed := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	committed.Partition, committed.Offset, committed.Metadata, committed.LeaderEpoch = partition, at, new("t"), 3
	request.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: topic, Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{committed}}}
	return request
}

// part is a batch of a transaction, of the present time: brokers forget producers whose last record is old.
func (p producer) part(sequence int32, texts ...string) []byte {
	return p.partAt(time.Now().UnixMilli(), sequence, texts...)
}

// partAt is part at a time of all its records.
func (p producer) partAt(ms int64, sequence int32, texts ...string) []byte {
	b := batch.NewBuilder()
	b.Transactional, b.ProducerID, b.ProducerEpoch, b.BaseSequence = true, p.id, p.epoch, sequence
	for _, text := range texts {
		b.Add(ms, nil, []byte(text))
	}
	return must(b)
}

// produceIn produces in a transaction.
func produceIn(p producer, topic string, partition int32, records []byte) *kmsg.ProduceRequest {
	request := produce(-1, topic, partition, records)
	request.TransactionID = &p.transactional
	return request
}

// transactional registers a producer, waiting until the broker coordinates its transactional id and the last transaction is over. Its producer id gets a
// name.
func (t *Talk) transactional(id, name string) producer {
	t.test.Helper()
	find := findCoordinator(1, id)
	for range 400 {
		if t.Prepare(4, find).(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode == 0 {
			response := t.Prepare(4, initializing(id)).(*kmsg.InitProducerIDResponse)
			if response.ErrorCode == 0 {
				t.Producer(response.ProducerID, name)
				return producer{id, response.ProducerID, response.ProducerEpoch}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.test.Fatalf("transactional id %s cannot be used", id)
	return producer{}
}

// second registers a producer twice, so that there is an epoch below its own.
func (t *Talk) second(id, name string) producer {
	t.test.Helper()
	t.transactional(id, name)
	return t.transactional(id, name)
}

// Producer gives a producer id a name.
func (t *Talk) Producer(id int64, name string) { t.masks.producers[id] = name }

// Begun adds a partition to the producer's transaction and writes records to it, which begin with the sequence.
func (t *Talk) Begun(p producer, topic string, partition, sequence int32, texts ...string) {
	t.test.Helper()
	for _, row := range t.Prepare(3, adding(p, topic, partition)).(*kmsg.AddPartitionsToTxnResponse).Topics[0].Partitions {
		t.worked("add "+topic, row.ErrorCode)
	}
	for _, row := range t.Prepare(9, produceIn(p, topic, partition, p.part(sequence, texts...))).(*kmsg.ProduceResponse).Topics[0].Partitions {
		t.worked("produce to "+topic, row.ErrorCode)
	}
}

// Staged has the producer's transaction commit an offset.
func (t *Talk) Staged(p producer, group, topic string, partition int32, at int64) {
	t.test.Helper()
	t.worked("add group "+group, t.Prepare(3, addingGroup(p, group)).(*kmsg.AddOffsetsToTxnResponse).ErrorCode)
	response := t.Prepare(3, staging(p, group, topic, partition, at)).(*kmsg.TxnOffsetCommitResponse)
	t.worked("stage for "+group, response.Topics[0].Partitions[0].ErrorCode)
}

// Ended ends the producer's transaction and waits until it is complete.
func (t *Talk) Ended(p producer, commit bool) {
	t.test.Helper()
	t.worked("end "+p.transactional, t.Prepare(3, ended(p, commit)).(*kmsg.EndTxnResponse).ErrorCode)
	t.Completed(p.transactional)
}

// Completed waits until the markers of a transaction are placed.
func (t *Talk) Completed(id string) {
	t.test.Helper()
	for range 400 {
		state := t.Prepare(0, describeTransactions(id)).(*kmsg.DescribeTransactionsResponse).TransactionStates[0].State
		if strings.HasPrefix(state, "Complete") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.test.Fatalf("transaction %s does not complete", id)
}

func (t *Talk) worked(what string, code int16) {
	t.test.Helper()
	if code != 0 {
		t.test.Fatalf("%s: %v", what, kerr.ErrorForCode(code))
	}
}

func describeTransactions(ids ...string) *kmsg.DescribeTransactionsRequest {
	request := kmsg.NewPtrDescribeTransactionsRequest()
	request.TransactionalIDs = ids
	return request
}

func describeProducers(topic string, partitions ...int32) *kmsg.DescribeProducersRequest {
	request := kmsg.NewPtrDescribeProducersRequest()
	request.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: topic, Partitions: partitions}}
	return request
}

// committedFrom is a fetch of committed records.
func committedFrom(topic string, id [16]byte, partition int32, offset int64) *kmsg.FetchRequest {
	request := fetch(0, fetchTopic(topic, id, partition, offset))
	request.IsolationLevel = 1
	return request
}

// strangers are producers that a transactional id does not have.
func strangers(p producer) []struct {
	name string
	producer
} {
	other := p
	other.id += 100000
	none := p
	none.id, none.epoch = -1, -1
	return []struct {
		name string
		producer
	}{
		{"an unknown transactional id", p.named(p.transactional + "-unknown")},
		{"an empty transactional id", p.named("")},
		{"another producer id", other},
		{"no producer id", none},
		{"an epoch too low", p.at(p.epoch - 1)},
		{"an epoch too high", p.at(p.epoch + 1)},
	}
}
