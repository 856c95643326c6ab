package api

// Produce, key 0, v0-v10. Pipelined: batches are appended when the request is read, and waited for when its turn to answer has come.
//
// Each partition succeeds or fails by itself. acks=-1 waits until the batch is durable and the leader confirmed, acks=1 until it is written, acks=0 is
// not answered: any error closes the connection, so that the client looks for the leader again. timeout_ms bounds the wait, not the append: a
// batch that was not acknowledged in time may still be in the log. The first batch of a transaction in a partition is taken when the transaction's coordinator
// says that the partition is part of it (KIP-890).
//
// Deviations: null records, an unknown codec or undecodable records answer 87 or 2 where 3.7 answers -1. A timeout of 0 or less is taken as one second: with
// one replica Kafka answers such requests too. A batch of another epoch than that of the producer's open transaction is verified, too (Kafka takes it).

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// The values of acks.
const (
	acksAll    int16 = -1
	acksNone   int16 = 0
	acksLeader int16 = 1
)

// leastTimeout is what a timeout of 0 or less is taken for.
const leastTimeout = time.Second

// produceCall is one Produce request between its appends and its answer.
type produceCall struct {
	handlers *Handlers
	request  *kmsg.ProduceRequest
	response *kmsg.ProduceResponse
	appends  []pendingAppend
	verified map[partitionName]verified // nil without batches of a transaction
	listener string
	deadline time.Time
	held     bool // an append may still read the request's bytes

	failed     bool // a partition has an error
	redirected bool // a partition names its leader, whose endpoint has to be told

	// Room for the answer to a request of one partition.
	answer  kmsg.ProduceResponse
	row     [1]kmsg.ProduceResponseTopicPartition
	pending [1]pendingAppend
}

// pendingAppend is a batch on its way into the log, and where its answer goes.
type pendingAppend struct {
	ticket storage.Ticket
	row    *kmsg.ProduceResponseTopicPartition
	topic  *catalog.Topic
}

func (h *Handlers) produce(ctx context.Context, r *protocol.Request) protocol.FinishFunc {
	request, is := r.Message.(*kmsg.ProduceRequest)
	if !is {
		return mismatch(r)
	}
	call := &produceCall{handlers: h, request: request, listener: r.Conn.Listener()}
	call.response = &call.answer
	call.answer.Default()
	call.answer.SetVersion(request.Version)
	timeout := time.Duration(request.TimeoutMillis) * time.Millisecond
	if timeout <= 0 {
		timeout = leastTimeout
	}
	call.deadline = time.Now().Add(timeout)
	call.appendAll(ctx, r.Conn)
	return call.finish
}

// mismatch ends a connection whose request does not hold what its key says.
func mismatch(r *protocol.Request) protocol.FinishFunc {
	return func(context.Context) (protocol.Reply, error) {
		return protocol.Reply{}, fmt.Errorf("request of key %d holds a %T", r.Header.Key, r.Message)
	}
}

// appendAll begins every append. Rows are allocated beforehand, because pending appends point to them.
func (c *produceCall) appendAll(ctx context.Context, conn *protocol.Conn) {
	count := 0
	for t := range c.request.Topics {
		count += len(c.request.Topics[t].Partitions)
	}
	rows, appends := c.row[:0], c.pending[:0]
	if count > 1 {
		rows, appends = make([]kmsg.ProduceResponseTopicPartition, 0, count), make([]pendingAppend, 0, count)
	}
	c.appends = appends
	c.response.Topics = make([]kmsg.ProduceResponseTopic, 0, len(c.request.Topics))
	snapshot := c.handlers.Catalog.Snapshot()
	last := lastMentions(c.request, count)
	var whole error
	if c.transactional() {
		if whole = c.refuseAll(conn); whole == nil {
			c.verified, whole = c.verify(ctx, snapshot, last)
		}
	}
	for t := range c.request.Topics {
		wanted := &c.request.Topics[t]
		topic, err := c.handlers.topicFor(conn, snapshot, kmsg.ACLOperationWrite, wanted.Topic)
		if whole != nil {
			err = whole
		}
		first := len(rows)
		for i := range wanted.Partitions {
			partition := &wanted.Partitions[i]
			if last.repeated(wanted.Topic, partition) {
				continue
			}
			rows = append(rows, newProduceRow(partition.Partition))
			c.appendOne(ctx, topic, partition, &rows[len(rows)-1], err)
		}
		if len(rows) > first {
			c.response.Topics = append(c.response.Topics, kmsg.ProduceResponseTopic{Topic: wanted.Topic, Partitions: rows[first:len(rows):len(rows)]})
		}
	}
}

func newProduceRow(partition int32) kmsg.ProduceResponseTopicPartition {
	row := kmsg.NewProduceResponseTopicPartition()
	row.Partition, row.BaseOffset, row.LogAppendTime, row.LogStartOffset = partition, -1, -1, -1
	return row
}

// refuseAll refuses a request with transactional batches of a client that may not use its transactional id.
func (c *produceCall) refuseAll(conn *protocol.Conn) error {
	id := c.request.TransactionID
	if id == nil || !c.handlers.Authorizer.Authorize(conn, kmsg.ACLOperationWrite, kmsg.ACLResourceTypeTransactionalId, *id) {
		return kerr.TransactionalIDAuthorizationFailed
	}
	return nil
}

// transactional reports whether any batch of the request claims to belong to a transaction.
func (c *produceCall) transactional() bool {
	for t := range c.request.Topics {
		partitions := c.request.Topics[t].Partitions
		for p := range partitions {
			if isTransactional(partitions[p].Records) {
				return true
			}
		}
	}
	return false
}

// magicAt is where every record format has its version.
const magicAt = 16

func isTransactional(records []byte) bool {
	return len(records) >= batch.HeaderSize && records[magicAt] == 2 && batch.Batch(records).Transactional()
}

// appendOne begins the append of one partition, or fills in why not.
func (c *produceCall) appendOne(
	ctx context.Context, topic *catalog.Topic, wanted *kmsg.ProduceRequestTopicPartition, row *kmsg.ProduceResponseTopicPartition, err error,
) {
	var p *storage.Partition
	var ticket storage.Ticket
	if err == nil {
		p, err = c.writable(topic, wanted)
	}
	var verdict verified
	if err == nil && c.verified != nil {
		verdict = c.verified[partitionName{topic.Name, wanted.Partition}]
		if err = verdict.err; verdict.partition != nil {
			p = verdict.partition
		}
	}
	if err == nil {
		ticket, err = c.begin(ctx, p, topic, wanted.Records, verdict.verification)
	}
	if err != nil {
		c.fail(row, topic, err)
		if p != nil && tellsLogStart(err) {
			row.LogStartOffset = p.Offsets().LogStart
		}
		return
	}
	c.held = true
	c.appends = append(c.appends, pendingAppend{ticket: ticket, row: row, topic: topic})
}

// writable finds the partition if clients may write what they sent to it.
func (c *produceCall) writable(topic *catalog.Topic, wanted *kmsg.ProduceRequestTopicPartition) (*storage.Partition, error) {
	switch {
	case !topic.HasPartition(wanted.Partition):
		return nil, kerr.UnknownTopicOrPartition
	case c.request.Acks < acksAll || c.request.Acks > acksLeader:
		return nil, kerr.InvalidRequiredAcks
	case topic.Internal:
		return nil, kerr.InvalidTopicException
	}
	return c.handlers.Partitions.Partition(topic, wanted.Partition)
}

func (c *produceCall) begin(
	ctx context.Context, p *storage.Partition, topic *catalog.Topic, records []byte, verification storage.Verification,
) (storage.Ticket, error) {
	rules := topic.Effective.Rules(c.request.Version, c.handlers.Now())
	valid, err := c.handlers.decodes.validate(ctx, records, rules, c.handlers.Tripwires)
	if err != nil {
		return storage.Ticket{}, err
	}
	return p.Append(valid, storage.AppendOptions{Verified: verification})
}
