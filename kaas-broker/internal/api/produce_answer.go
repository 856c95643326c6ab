package api

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-protocol"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// finish waits for the appends, one after the other: they are under way together.
func (c *produceCall) finish(ctx context.Context) (protocol.Reply, error) {
	if c.held {
		if err := c.waitAll(ctx); err != nil {
			return protocol.Reply{Settle: c.written}, err
		}
	}
	reply := protocol.Reply{Recycle: !c.held}
	if c.held {
		reply.Settle = c.written
	}
	if c.request.Acks == acksNone {
		reply.Close = c.failed
		return reply, nil
	}
	if c.redirected {
		c.response.Brokers = []kmsg.ProduceResponseBroker{kmsg.ProduceResponseBroker(c.handlers.endpoint(c.conn.Listener()))}
	}
	reply.Message = &c.response
	return reply, nil
}

// written waits until the log has taken the request's bytes, or its leadership has ended: then a write that hangs may still read them.
// The log sees to it that neither takes longer than its deadline.
func (c *produceCall) written() (all bool) {
	all = true
	for i := range c.appends {
		if pending := &c.appends[i]; pending.err == nil {
			all = pending.ticket.WaitWritten(context.Background()) == nil && all
		}
	}
	return all
}

// waitAll fills in the answers. The error is that of ctx: nobody is there to be answered.
func (c *produceCall) waitAll(ctx context.Context) error {
	held := false
	for i := range c.appends {
		pending := &c.appends[i]
		if pending.err != nil {
			continue // answered
		}
		err := c.wait(ctx, pending.ticket)
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			held = true // it may still be written, or a write of it hang
			c.fail(pending, err)
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
func (c *produceCall) fail(pending *pendingAppend, err error) {
	c.failed = true
	row := pending.row
	row.ErrorCode = codeFor(keyProduce, c.request.Version, err)
	if c.request.Version >= produceWithRecordErrors {
		row.ErrorRecords, row.ErrorMessage = recordErrors(err), messageOf(err)
	}
	if pending.partition != nil && tellsLogStart(err) {
		row.LogStartOffset = pending.partition.Offsets().LogStart
	}
	if c.request.Version < produceWithLeader || pending.topic == nil || !wrongLeader(row.ErrorCode) {
		return
	}
	if node, epoch, known := c.handlers.leaderHint(pending.topic, row.Partition); known {
		row.CurrentLeader.LeaderID, row.CurrentLeader.LeaderEpoch = node, epoch
		c.redirected = true
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
