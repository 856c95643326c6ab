package transcripts

import "time"

func describeProducersScript(t *Talk) {
	const topic = "describe-producers"
	t.Topic(topic, 3)
	t.Ask("no producers", 0, describeProducers(topic, 0, 1))
	plain := newProducer(t)
	t.Producer(plain, "plain")
	t.Prepare(9, produceTo(topic, idempotentAt(time.Now().UnixMilli(), plain, 0, 0, 3)))
	t.Ask("an idempotent producer", 0, describeProducers(topic, 0))
	p := t.transactional(topic, "producer")
	t.Begun(p, topic, 0, 0, "a", "b")
	t.Ask("an open transaction", 0, describeProducers(topic, 0))
	t.Prepare(9, produceIn(p, topic, 0, p.part(2, "c")))
	t.Ask("an open transaction that goes on", 0, describeProducers(topic, 0))
	t.Ended(p, true)
	t.Ask("a transaction that has ended", 0, describeProducers(topic, 0))
	t.Ask("several partitions, unknown ones too", 0, describeProducers(topic, 0, 1, 9, -1))
	t.Ask("an unknown topic", 0, describeProducers("describe-producers-unknown", 0))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 0, describeProducers(invalidNames[what], 0))
	}
	t.Ask("no partition", 0, describeProducers(topic))
	none := describeProducers(topic)
	none.Topics = nil
	t.Ask("no topic", 0, none)
}
