package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// epochExhaustionScript takes producers to the end of their epochs, where they get another producer id: one by coming back, one by being fenced.
func epochExhaustionScript(t *Talk) {
	const topic = "epoch-exhaustion"
	id := t.Topic(topic, 2)
	exhaustedByReturning(t, topic, id)
	exhaustedByFence(t, topic)
}

// lastEpoch is the highest that a producer gets: one more is for fencing it.
const lastEpoch = 32766

// aged registers a producer until it has the epoch.
func (t *Talk) aged(id, name string, epoch int16) producer {
	t.test.Helper()
	p := t.transactional(id, name)
	for p.epoch < epoch {
		response := t.Prepare(4, returning(p)).(*kmsg.InitProducerIDResponse)
		t.worked("return", response.ErrorCode)
		p = p.at(response.ProducerEpoch)
	}
	return p
}

func exhaustedByReturning(t *Talk, topic string, id [16]byte) {
	before := t.aged("returning", "returning", lastEpoch-1)
	t.Ask("the last epoch", 4, returning(before))
	t.Ask("the last epoch again", 4, returning(before))
	old := before.at(lastEpoch)
	t.Begun(old, topic, 0, 0, "a")
	t.Ask("the end of a transaction of the last epoch", 3, ended(old, true))
	t.Completed("returning")
	response := t.Prepare(4, returning(old)).(*kmsg.InitProducerIDResponse)
	t.worked("return with the last epoch", response.ErrorCode)
	t.Producer(response.ProducerID, "its successor")
	t.AskEach("from the last epoch again", 3, 4, returning(old))
	t.AskEach("from the last epoch but one", 3, 4, returning(before))
	next := producer{transactional: "returning", id: response.ProducerID, epoch: response.ProducerEpoch}
	t.Ask("the transactional id", 0, describeTransactions("returning"))
	t.AskEach("the old id: partitions", 0, 3, adding(old, topic, 0))
	t.AskEach("the old id: the end", 0, 3, ended(old, true))
	t.Ask("the old id: records", 9, produceIn(old, topic, 0, old.part(1, "b")))
	t.Begun(next, topic, 0, 0, "c")
	t.Ask("from the last epoch while a transaction of the new id is open", 4, returning(old))
	t.Ended(next, true)
	t.Ask("committed records", 12, committedFrom(topic, id, 0, 0))
	t.Ask("producers", 0, describeProducers(topic, 0))
	t.Ask("the new id returns", 4, returning(next))
	t.Ask("from the last epoch when the new id has returned", 4, returning(old))
}

func exhaustedByFence(t *Talk, topic string) {
	p := t.aged("fenced", "fenced", lastEpoch)
	t.Begun(p, topic, 1, 0, "a")
	t.Ask("another instance, with a transaction of the last epoch open", 4, initializing("fenced"))
	t.Completed("fenced")
	t.Ask("the fenced one: the end", 3, ended(p, true))
	t.Ask("the fenced one: the transactional id", 0, describeTransactions("fenced"))
	t.Ask("the fenced one: producers", 0, describeProducers(topic, 1))
	t.Ask("the fenced one returns", 4, returning(p))
	response := t.Prepare(4, initializing("fenced")).(*kmsg.InitProducerIDResponse)
	t.worked("another instance", response.ErrorCode)
	t.Producer(response.ProducerID, "another instance")
	t.Ask("another instance has registered", 0, describeTransactions("fenced"))
	t.Ask("the fenced one returns late", 4, returning(p))
	t.Ask("the epoch of the fence returns late", 4, returning(p.at(lastEpoch+1)))
}
