package clients

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// inTransactions lets transactions of vanished members time out soon.
var inTransactions = map[string]string{
	"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000",
	"transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}

// A group whose members turn each record of the input into one of the output, in transactions that also hold their offsets. Members come, leave and
// vanish in the middle of a transaction, and the broker is killed: of each input there is one output, in order.
func TestTransactSessionsUnderChurn(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: inTransactions})
	c := newChurn(t, broker)
	output := c.topic + "-output"
	createTopic(t, broker.Bootstrap(), output, churnPartitions)
	c.crew = newInsideCrew(t, func(ctx context.Context, name string, m *memberRun) {
		// Whatever ends a session as no session should end, the program starts anew with the same transactional id.
		for ctx.Err() == nil {
			sessionTransacts(ctx, c, output, name, m)
		}
	})
	c.judge = func(ends []int64) {
		// A member that was cut off does not know whether its last transaction is committed: only the output tells.
		c.witness.awaitCommits(ends)
		judgeOutput(t, broker.Bootstrap(), output, ends)
	}
	c.run(harness.Rounds(5, 60), true)
}

// sessionTransacts is one session, until its end or an error that it cannot go on from.
func sessionTransacts(ctx context.Context, c *churn, output, name string, m *memberRun) {
	session, err := kgo.NewGroupTransactSession(impatient(output, kgo.SeedBrokers(c.broker.Bootstrap()), kgo.Dialer(m.line.dial), kgo.ClientID(name),
		kgo.TransactionalID(c.group+"-"+name), kgo.TransactionTimeout(4*time.Second), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumerGroup(c.group), kgo.ConsumeTopics(c.topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(churnSession),
		kgo.HeartbeatInterval(300*time.Millisecond), kgo.FetchMaxWait(100*time.Millisecond), kgo.RetryTimeout(5*time.Second),
		kgo.RecordDeliveryTimeout(5*time.Second))...)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer session.Close()
	for ctx.Err() == nil {
		fetches := session.PollRecords(ctx, 50)
		if fetches.Empty() {
			continue
		}
		if err := session.Begin(); err != nil {
			c.t.Logf("%s begins: %v", name, err)
			return
		}
		var failure kgo.FirstErrPromise
		fetches.EachRecord(func(r *kgo.Record) {
			session.Produce(ctx, &kgo.Record{Partition: r.Partition, Value: fmt.Append(nil, r.Offset)}, failure.Promise())
		})
		committed, err := endTransaction(session, fetches, &failure)
		if err != nil {
			c.t.Logf("%s ends: %v", name, err)
			return
		}
		if committed {
			fetches.EachRecord(func(r *kgo.Record) { c.witness.reads(r.Partition, r.Offset) })
		}
	}
}

// endTransaction commits what was produced, or aborts when some of it was not, or when the group is lost. It does so, too, when the member is about to leave.
func endTransaction(session *kgo.GroupTransactSession, read kgo.Fetches, failure *kgo.FirstErrPromise) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// On a line that is cut the promises are never kept.
	if err := session.Client().Flush(ctx); err != nil {
		return false, err
	}
	return session.End(ctx, kgo.TransactionEndTry(failure.Err() == nil && harness.StillHeld(session.Client(), read)))
}

// judgeOutput reads the output as committed: the offsets of the input, each one once and in order.
func judgeOutput(t *testing.T, address, output string, ends []int64) {
	t.Helper()
	var total int64
	for _, end := range ends {
		total += end
	}
	consumer := newFranz(t, address, kgo.ConsumeTopics(output), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200*time.Millisecond))
	records := append(poll(t, consumer, time.Minute, int(total)), poll(t, consumer, time.Second, -1)...)
	next := make([]int64, len(ends))
	for _, r := range records {
		var offset int64
		if _, err := fmt.Sscan(string(r.Value), &offset); err != nil || offset != next[r.Partition] {
			t.Fatalf("partition %d: the output of the record at %s follows that of %d", r.Partition, r.Value, next[r.Partition]-1)
		}
		next[r.Partition]++
	}
	for partition, end := range ends {
		if next[partition] != end {
			t.Errorf("partition %d: %d outputs of %d records", partition, next[partition], end)
		}
	}
}
