package transcripts

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// restartScript asks about what came before the broker was restarted: leader epochs, producers, what was deleted.
func restartScript(t *Talk) {
	const name = "restart"
	id := t.Topic(name, 2, forever, "max.message.bytes=2000")
	old := t.Epoch(name)
	// Apache Kafka forgets at its start the producers whose last record is older than a day.
	producer, now := newProducer(t), time.Now().UnixMilli()
	t.Prepare(9, produceTo(name, idempotentAt(now, producer, 0, 0, 3)))
	t.Prepare(9, produceTo(name, idempotentAt(now, producer, 0, 3, 2)))
	t.Prepare(9, produce(-1, name, 1, values("x", "y", "z")))
	t.Prepare(2, deleteRecords(name, 1, 2))
	t.Restart()
	t.Learn(name)
	t.Ask("metadata", 12, metadataRequest(name))
	t.Ask("settings", 4, describeConfigs(kmsg.ConfigResourceTypeTopic, name, "retention.ms", "max.message.bytes"))
	t.Ask("the last batch again", 9, produceTo(name, idempotentAt(now, producer, 0, 3, 2)))
	t.Ask("the first batch again", 9, produceTo(name, idempotentAt(now, producer, 0, 0, 3)))
	t.Ask("a gap", 9, produceTo(name, idempotentAt(now, producer, 0, 9, 1)))
	t.Ask("the next batch", 9, produceTo(name, idempotentAt(now, producer, 0, 5, 2)))
	t.Ask("the beginning of what was deleted", 8, listOffsetsOf(name, 1, -2))
	t.Ask("the end of what was deleted", 8, listOffsetsOf(name, 1, -1))
	t.Ask("records", 11, fetchFrom(name, 0))
	restartEpochs(t, name, id, old)
	t.Ask("a second topic of the name", 7, createTopics(newTopic(name, 1, 1)), manySettings)
}

func restartEpochs(t *Talk, name string, id [16]byte, old int32) {
	current := t.Epoch(name)
	t.AskEach("the end of the epoch before", 0, 4, epochEnd(name, 0, -1, old))
	t.AskEach("the end of the current epoch", 0, 4, epochEnd(name, 0, -1, current))
	t.AskEach("a client in the epoch before", 2, 4, epochEnd(name, 0, old, old))
	outdated := listOffsets(name, -1)
	outdated.Topics[0].Partitions[0].CurrentLeaderEpoch = old
	t.AskEach("the end, by a client in the epoch before", 4, 8, outdated)
	t.Ask("the first record's epoch", 8, listOffsets(name, start))
	for _, c := range []struct {
		name          string
		current, last int32
		offset        int64
	}{
		{"in the epoch before", old, -1, 5},
		{"after a record of the epoch before", -1, old, 5},
		{"after a record that the epoch before has not written", -1, old, 6},
		{"after a record of the current epoch", -1, current, 7},
		{"after a record that nobody has written", -1, current, 8},
		{"below the epoch it names", -1, current, 3},
	} {
		request := fetch(0, fetchTopic(name, id, 0, c.offset))
		request.Topics[0].Partitions[0].CurrentLeaderEpoch, request.Topics[0].Partitions[0].LastFetchedEpoch = c.current, c.last
		for _, version := range []int16{9, 11, 12, 16} {
			t.Ask("fetch "+c.name, version, request)
		}
	}
	t.Ask("fetch of what was deleted", 12, fetch(0, fetchTopic(name, id, 1, 0)))
}
