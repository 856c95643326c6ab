package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

// marking writes a marker as an administrator does.
func marking(p producer, commit bool, coordinator int32, topic string, partitions ...int32) *kmsg.WriteTxnMarkersRequest {
	request := kmsg.NewPtrWriteTxnMarkersRequest()
	request.Markers = []kmsg.WriteTxnMarkersRequestMarker{{
		ProducerID: p.id, ProducerEpoch: p.epoch, Committed: commit, CoordinatorEpoch: coordinator,
		Topics: []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: topic, Partitions: partitions}},
	}}
	return request
}

// farEpoch is above the epoch of every coordinator here.
const farEpoch = 1000

func writeTxnMarkersScript(t *Talk) {
	const topic = "write-txn-markers"
	id := t.Topic(topic, 3)
	p := t.second(topic, "producer")
	t.Begun(p, topic, 0, 0, "a", "b")
	t.Begun(p, topic, 1, 0, "c")
	t.AskEach("an unknown topic", 0, 1, marking(p, false, 0, "write-txn-markers-unknown", 0))
	t.AskEach("an unknown partition", 0, 1, marking(p, false, 0, topic, 9, -1))
	t.AskEach("an epoch too low", 0, 1, marking(p.at(p.epoch-1), false, 0, topic, 0))
	t.Ask("no partition", 1, marking(p, false, 0, topic))
	none := marking(p, false, 0, topic, 0)
	none.Markers = nil
	t.Ask("no marker", 1, none)
	t.Ask("committed records before the abort", 11, committedFrom(topic, id, 0, 0))
	t.Ask("an abort, beside an unknown partition", 1, marking(p, false, farEpoch, topic, 0, 9))
	t.Ask("committed records after the abort", 11, committedFrom(topic, id, 0, 0))
	t.Ask("the same again", 1, marking(p, false, farEpoch, topic, 0))
	t.Ask("an earlier coordinator", 1, marking(p, false, farEpoch-1, topic, 0))
	t.Ask("an earlier coordinator with a higher epoch", 1, marking(p.at(p.epoch+1), false, farEpoch-1, topic, 0))
	t.Ask("a marker of a producer that is unknown there", 1, marking(p, true, 0, topic, 2))
	t.Ask("producers", 0, describeProducers(topic, 0, 1, 2))
	t.Ask("records after the abort", 9, produceIn(p, topic, 0, p.part(2, "d")))
	t.Ask("all records", 11, fetchFrom(topic, 0))
	several := marking(p, false, farEpoch, topic, 1)
	several.Markers = append(several.Markers, marking(producer{id: p.id + 7, epoch: 0}, true, 0, topic, 1).Markers...)
	t.Producer(p.id+7, "stranger")
	t.Ask("markers of two producers", 1, several)
	t.Ask("producers after markers of two", 0, describeProducers(topic, 1))
}
