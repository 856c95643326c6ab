package transcripts

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// shortTransactions are the settings of a broker that looks often for what has timed out.
func shortTransactions() map[string]string {
	return map[string]string{
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
		"transaction.max.timeout.ms":                                  "5000",
		"transactional.id.expiration.ms":                              "4000",
		"transaction.remove.expired.transaction.cleanup.interval.ms":  "300",
	}
}

func transactionTimeoutsScript(t *Talk) {
	const topic, group = "transaction-timeouts", "transaction-timeouts"
	id := t.Topic(topic, 1)
	t.Coordinated(group)
	long := initializing(topic)
	long.TransactionTimeoutMillis = 5001
	t.Ask("a timeout too long", 4, long)
	p := t.brief(topic, 700)
	t.Begun(p, topic, 0, 0, "a")
	t.Staged(p, group, topic, 0, 5)
	t.Ask("committed records while it is open", 12, committedFrom(topic, id, 0, 0))
	t.Completed(topic)
	t.Ask("the transaction when it has timed out", 0, describeTransactions(topic))
	t.Ask("committed records when it has timed out", 12, committedFrom(topic, id, 0, 0))
	stable := fetching(group, topic, 0)
	stable.RequireStable = true
	t.Ask("offsets when it has timed out", 8, stable)
	t.Ask("producers when it has timed out", 0, describeProducers(topic, 0))
	t.Ask("more records", 9, produceIn(p, topic, 0, p.part(1, "b")))
	t.AskEach("a commit that is late", 0, 3, ended(p, true))
	t.AskEach("one more partition", 0, 3, adding(p, topic, 0))
	t.AskEach("one more group", 0, 3, addingGroup(p, group))
	t.AskEach("more offsets", 0, 3, staging(p, group, topic, 0, 5))
	returns := returning(p)
	returns.TransactionTimeoutMillis = 700
	t.AskEach("the producer returns", 3, 4, returns)
	transactionExpires(t, topic)
}

// brief registers a producer with a short timeout.
func (t *Talk) brief(id string, ms int32) producer {
	t.test.Helper()
	find := findCoordinator(1, id)
	for range 400 {
		if t.Prepare(4, find).(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode == 0 {
			request := initializing(id)
			request.TransactionTimeoutMillis = ms
			if response := t.Prepare(4, request).(*kmsg.InitProducerIDResponse); response.ErrorCode == 0 {
				t.Producer(response.ProducerID, "producer")
				return producer{id, response.ProducerID, response.ProducerEpoch}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.test.Fatalf("transactional id %s cannot be used", id)
	return producer{}
}

// transactionExpires waits until the transactional id is forgotten.
func transactionExpires(t *Talk, id string) {
	t.test.Helper()
	for range 400 {
		if t.Prepare(0, describeTransactions(id)).(*kmsg.DescribeTransactionsResponse).TransactionStates[0].ErrorCode != 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Ask("a transactional id that is forgotten", 0, describeTransactions(id))
	old := producer{id, 1, 1}
	t.AskEach("a commit when the id is forgotten", 0, 3, ended(old, true))
	t.Ask("a partition when the id is forgotten", 3, adding(old, id, 0))
	t.Ask("a group when the id is forgotten", 3, addingGroup(old, id))
	again := initializing(id)
	again.TransactionTimeoutMillis = 1000
	t.Ask("the id once more", 4, again)
}
