package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func produceTransactionalScript(t *Talk) {
	const topic = "produce-transactional"
	t.Topic(topic, 4)
	p := t.second(topic, "producer")
	t.AskEach("before the transaction", 3, 10, produceIn(p, topic, 0, p.part(0, "a")))
	t.Prepare(3, adding(p, topic, 0, 1))
	for _, stranger := range strangers(p) {
		t.Ask(stranger.name, 9, produceIn(stranger.producer, topic, 0, stranger.part(0, "a")))
	}
	t.Ask("a partition that is not part of it", 9, produceIn(p, topic, 2, p.part(0, "a")))
	both := produceIn(p, topic, 0, p.part(0, "a"))
	both.Topics[0].Partitions = append(both.Topics[0].Partitions, produceIn(p, topic, 3, p.part(0, "b")).Topics[0].Partitions...)
	t.Ask("one that is part of it and one that is not", 9, both)
	t.Ask("the next batch", 9, produceIn(p, topic, 0, p.part(1, "b")))
	t.Ask("the next batch again", 9, produceIn(p, topic, 0, p.part(1, "b")))
	t.Ask("a gap", 9, produceIn(p, topic, 0, p.part(7, "b")))
	t.Ask("a first batch that begins behind 0", 9, produceIn(p, topic, 1, p.part(5, "b")))
	t.Ask("a plain batch of the same producer", 9, produceTo(topic, idempotent(p.id, p.epoch, 2, 1)))
	t.Ask("a batch of no producer beside it", 9, produceTo(topic, values("x")))
	t.Ask("without acks of all", 9, func() *kmsg.ProduceRequest {
		request := produceIn(p, topic, 0, p.part(2, "c"))
		request.Acks = 1
		return request
	}())
	two := produceIn(p, topic, 0, p.part(3, "d"))
	stranger := producer{topic, p.id + 100000, 0}
	two.Topics[0].Partitions = append(two.Topics[0].Partitions, produceIn(stranger, topic, 1, stranger.part(0, "d")).Topics[0].Partitions...)
	t.Ask("batches of two producers", 9, two)
	t.Ask("an unknown topic", 9, produceIn(p, "produce-transactional-unknown", 0, p.part(0, "a")))
	t.Ask("an unknown partition", 9, produceIn(p, topic, 9, p.part(0, "a")))
	t.Ended(p, true)
	t.Ask("after the commit", 9, produceIn(p, topic, 0, p.part(3, "e")))
	t.Ask("the last batch again after the commit", 9, produceIn(p, topic, 0, p.part(2, "c")))
	next := t.transactional(topic, "producer")
	t.Ask("the old epoch after the next producer has registered", 9, produceIn(p, topic, 0, p.part(3, "e")))
	t.Begun(next, topic, 0, 0, "f")
	t.Ask("the old epoch beside the next producer's transaction", 9, produceIn(p, topic, 0, p.part(3, "e")))
	t.Ended(next, false)
	t.Ask("all records", 11, fetchFrom(topic, 0))
	ahead := t.transactional(topic+"-ahead", "ahead")
	t.Begun(ahead, topic, 1, 0, "a")
	t.Ask("a higher epoch beside an open transaction", 9, produceIn(ahead.at(ahead.epoch+1), topic, 1, ahead.at(ahead.epoch+1).part(0, "b")))
}
