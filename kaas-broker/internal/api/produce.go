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
// A compressed batch has 19 million records at most (INVALID_RECORD).

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// The values of acks.
const (
	acksAll    int16 = -1
	acksNone   int16 = 0
	acksLeader int16 = 1
)

// Versions from which Produce is different.
const (
	produceWithRecordErrors int16 = 8  // bad records, and why (KIP-467)
	produceWithLeader       int16 = 10 // current leader and node endpoints (KIP-951)
)

// leastTimeout is what a timeout of 0 or less is taken for.
const leastTimeout = time.Second

// produceCall is one Produce request between its appends and its answer.
type produceCall struct {
	handlers *Handlers
	conn     *protocol.Conn
	request  *kmsg.ProduceRequest
	appends  []pendingAppend // one for each row of the answer
	deadline time.Time

	transactional bool // a batch claims to belong to a transaction
	held          bool // an append may still read the request's bytes
	failed        bool // a partition has an error
	redirected    bool // a partition names its leader, whose endpoint has to be told

	response kmsg.ProduceResponse
	// Room for the answer to a request of one partition.
	row     [1]kmsg.ProduceResponseTopicPartition
	pending [1]pendingAppend
}

// pendingAppend is what a request has for one partition, on its way into the log.
type pendingAppend struct {
	sent  *kmsg.ProduceRequestTopicPartition
	row   *kmsg.ProduceResponseTopicPartition
	topic *catalog.Topic // nil when it is unknown, or not the client's
	// partition is found once: what was verified of it does not hold for the next leadership. nil when nothing can be written to it.
	partition    *storage.Partition
	verification *storage.Verification // nil when nothing had to be verified
	ticket       storage.Ticket
	err          error // why it was not appended
}

func (h *Handlers) produce(ctx context.Context, r *protocol.Request, request *kmsg.ProduceRequest) protocol.FinishFunc {
	call := &produceCall{handlers: h, conn: r.Conn, request: request}
	call.response.Default()
	call.response.SetVersion(request.Version)
	timeout := time.Duration(request.TimeoutMillis) * time.Millisecond
	if timeout <= 0 {
		timeout = leastTimeout
	}
	call.deadline = time.Now().Add(timeout)
	call.find()
	if call.transactional {
		if err := call.verify(ctx); err != nil {
			call.refuse(err)
		}
	}
	call.appendAll(ctx)
	return call.finish
}

// find lists what is to be appended where. Rows are allocated beforehand, because pending appends point to them.
func (c *produceCall) find() {
	count := 0
	for t := range c.request.Topics {
		count += len(c.request.Topics[t].Partitions)
	}
	rows := c.row[:0]
	c.appends = c.pending[:0]
	if count > 1 {
		rows, c.appends = make([]kmsg.ProduceResponseTopicPartition, 0, count), make([]pendingAppend, 0, count)
	}
	c.response.Topics = make([]kmsg.ProduceResponseTopic, 0, len(c.request.Topics))
	snapshot := c.handlers.Catalog.Snapshot()
	last := lastMentions(c.request, count)
	for t := range c.request.Topics {
		wanted := &c.request.Topics[t]
		topic, err := c.handlers.topicFor(c.conn, snapshot, kmsg.ACLOperationWrite, wanted.Topic)
		first := len(rows)
		for i := range wanted.Partitions {
			sent := &wanted.Partitions[i]
			c.transactional = c.transactional || isTransactional(sent.Records)
			if last.repeated(wanted.Topic, sent) {
				continue
			}
			rows = append(rows, newProduceRow(sent.Partition))
			pending := pendingAppend{sent: sent, row: &rows[len(rows)-1], topic: topic, err: err}
			if err == nil {
				pending.partition, pending.err = c.writable(topic, sent.Partition)
			}
			c.appends = append(c.appends, pending)
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

// writable finds a partition if clients may write to it.
func (c *produceCall) writable(topic *catalog.Topic, index int32) (*storage.Partition, error) {
	switch {
	case !topic.HasPartition(index):
		return nil, kerr.UnknownTopicOrPartition
	case c.request.Acks < acksAll || c.request.Acks > acksLeader:
		return nil, kerr.InvalidRequiredAcks
	case topic.Internal:
		return nil, kerr.InvalidTopicException
	}
	return c.handlers.Partitions.Partition(topic, index)
}

// refuse refuses the request as a whole.
func (c *produceCall) refuse(err error) {
	for i := range c.appends {
		c.appends[i].err = err
	}
}

// appendAll begins every append, or fills in why not.
func (c *produceCall) appendAll(ctx context.Context) {
	for i := range c.appends {
		pending := &c.appends[i]
		if pending.err == nil {
			pending.ticket, pending.err = c.appendOne(ctx, pending)
		}
		if pending.err != nil {
			c.fail(pending, pending.err)
			continue
		}
		c.held = true
	}
}

// appendOne judges one batch and begins its append.
func (c *produceCall) appendOne(ctx context.Context, pending *pendingAppend) (storage.Ticket, error) {
	rules := pending.topic.Effective.Rules(c.request.Version, c.handlers.Now())
	valid, err := c.handlers.decodes.validate(ctx, pending.sent.Records, rules, c.handlers.Tripwires)
	if err != nil {
		return storage.Ticket{}, err
	}
	var options storage.AppendOptions
	if pending.verification != nil {
		options.Verified = *pending.verification
	}
	return pending.partition.Append(valid, options)
}
