package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// finish waits for the appends, one after the other: they are under way together.
func (c *produceCall) finish(ctx context.Context) (protocol.Reply, error) {
	if c.held {
		if err := c.waitAll(ctx); err != nil {
			return protocol.Reply{}, err
		}
	}
	if c.request.Acks == acksNone {
		return protocol.Reply{Close: c.failed, Recycle: !c.held}, nil
	}
	if c.failed && c.request.Version >= 10 {
		c.addEndpoints()
	}
	return protocol.Reply{Message: c.response, Recycle: !c.held}, nil
}

// waitAll fills in the answers. The error is that of ctx: nobody is there to be answered.
func (c *produceCall) waitAll(ctx context.Context) error {
	held := false
	for i := range c.appends {
		pending := &c.appends[i]
		err := c.wait(ctx, pending.ticket)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			// Not even a failed append is done with the bytes: one that stalled may still be writing them.
			held = true
			c.fail(pending.row, pending.topic, err)
			continue
		}
		result := pending.ticket.Result()
		pending.row.BaseOffset, pending.row.LogStartOffset = result.BaseOffset, result.LogStartOffset
		pending.row.LogAppendTime = result.AppendTime
	}
	c.held = held
	return nil
}

func (c *produceCall) wait(ctx context.Context, ticket storage.Ticket) error {
	wait, done := ticket.WaitWritten, ticket.Written()
	if c.request.Acks == acksAll {
		wait, done = ticket.WaitDurable, ticket.Durable()
	}
	if err := c.handlers.timers.wait(ctx, done, c.deadline); err != nil {
		return err
	}
	return wait(ctx)
}

// fail fills in the error of a partition.
func (c *produceCall) fail(row *kmsg.ProduceResponseTopicPartition, topic *catalog.Topic, err error) {
	c.failed = true
	row.ErrorCode = codeFor(keyProduce, c.request.Version, err)
	if c.request.Version >= 8 {
		row.ErrorRecords, row.ErrorMessage = recordErrors(err), messageOf(err)
	}
	if c.request.Version < 10 || topic == nil || !wrongLeader(row.ErrorCode) {
		return
	}
	if node, epoch, known := c.handlers.leaderHint(topic, row.Partition); known {
		row.CurrentLeader.LeaderID, row.CurrentLeader.LeaderEpoch = node, epoch
	}
}

// wrongLeader reports whether a code sends the client to another leader (KIP-951).
func wrongLeader(code int16) bool {
	return code == kerr.NotLeaderForPartition.Code || code == kerr.FencedLeaderEpoch.Code
}

// recordErrors names the bad records (KIP-467).
func recordErrors(err error) []kmsg.ProduceResponseTopicPartitionErrorRecord {
	rejected := (*batch.RejectedError)(nil)
	if !errors.As(err, &rejected) || len(rejected.Records) == 0 {
		return nil
	}
	rows := make([]kmsg.ProduceResponseTopicPartitionErrorRecord, len(rejected.Records))
	for i, bad := range rejected.Records {
		rows[i] = kmsg.NewProduceResponseTopicPartitionErrorRecord()
		rows[i].RelativeOffset, rows[i].ErrorMessage = bad.Index, shortened(bad.Message)
	}
	return rows
}

// tellsLogStart reports whether Kafka answers this error with the log start offset: when the log itself has refused the records.
func tellsLogStart(err error) bool {
	rejected := (*batch.RejectedError)(nil)
	return errors.As(err, &rejected) && len(rejected.Records) > 0 ||
		errors.Is(err, storage.ErrOutOfOrderSequence) || errors.Is(err, storage.ErrProducerEpoch) || errors.Is(err, storage.ErrInvalidTransaction)
}

// addEndpoints tells where the leaders are that the answer names.
func (c *produceCall) addEndpoints() {
	for t := range c.response.Topics {
		for p := range c.response.Topics[t].Partitions {
			if c.response.Topics[t].Partitions[p].CurrentLeader.LeaderID != c.handlers.Broker.NodeID {
				continue
			}
			broker := kmsg.NewProduceResponseBroker()
			broker.NodeID, broker.Rack = c.handlers.Broker.NodeID, c.handlers.rack()
			broker.Host, broker.Port = c.handlers.Broker.Advertised(c.listener)
			c.response.Brokers = []kmsg.ProduceResponseBroker{broker}
			return
		}
	}
}

// mentions knows, of a request that names partitions more than once, which mention of each counts: the last, as in Kafka.
type mentions map[partitionName]*kmsg.ProduceRequestTopicPartition

// lastMentions is nil for a request of one partition.
func lastMentions(request *kmsg.ProduceRequest, partitions int) mentions {
	if partitions < 2 {
		return nil
	}
	last := make(mentions, partitions)
	for t := range request.Topics {
		topic := &request.Topics[t]
		for p := range topic.Partitions {
			last[partitionName{topic.Topic, topic.Partitions[p].Partition}] = &topic.Partitions[p]
		}
	}
	return last
}

// repeated reports whether a later mention of the same partition counts instead.
func (m mentions) repeated(topic string, partition *kmsg.ProduceRequestTopicPartition) bool {
	return m != nil && m[partitionName{topic, partition.Partition}] != partition
}
