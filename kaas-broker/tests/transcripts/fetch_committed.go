package transcripts

import "time"

// fetchCommittedScript reads as consumers with isolation.level=read_committed do.
func fetchCommittedScript(t *Talk) {
	const topic = "fetch-committed"
	id := t.Topic(topic, 3)
	t.AskEach("an empty partition", 4, 16, committedFrom(topic, id, 1, 0))
	first, second := t.transactional(topic+"-1", "first"), t.transactional(topic+"-2", "second")
	t.Prepare(9, produceTo(topic, valuesAt(time.Now().UnixMilli(), "plain")))
	t.Begun(first, topic, 0, 0, "a")
	t.Begun(second, topic, 0, 0, "b")
	t.Prepare(9, produceTo(topic, valuesAt(time.Now().UnixMilli(), "plain")))
	fetchCommittedAt(t, id, "with two transactions open")
	t.Ended(second, true)
	fetchCommittedAt(t, id, "when the second is committed")
	t.Ended(first, false)
	fetchCommittedAt(t, id, "when the first is aborted")
	t.Begun(second, topic, 0, 1, "c", "d")
	t.Prepare(9, produceIn(second, topic, 0, second.part(3, "e")))
	t.Begun(first, topic, 0, 1, "f")
	t.Ended(second, false)
	fetchCommittedAt(t, id, "when the second is aborted, the first open")
	t.Ended(first, true)
	t.AskEach("all that is committed", 4, 16, committedFrom(topic, id, 0, 0))
	for _, offset := range []int64{1, 5, 6, 7, 8, 10, 11, 12, 13, 14} {
		t.Ask("committed records from offset "+string(rune('a'+offset)), 12, committedFrom(topic, id, 0, offset))
	}
	few := committedFrom(topic, id, 0, 0)
	few.Topics[0].Partitions[0].PartitionMaxBytes = 100
	t.Ask("a few committed records", 12, few)
	t.Prepare(2, deleteRecords(topic, 0, 8))
	t.Ask("committed records after records were deleted", 12, committedFrom(topic, id, 0, 8))
	fetchCommittedOld(t, topic)
	fetchCommittedTimes(t, first, topic)
}

// fetchCommittedTimes looks for times when the newest record is not committed yet.
func fetchCommittedTimes(t *Talk, p producer, topic string) {
	now := time.Now().UnixMilli()
	t.Prepare(9, produce(-1, topic, 2, valuesAt(now, "old")))
	t.Prepare(3, adding(p, topic, 2))
	t.Prepare(9, produceIn(p, topic, 2, p.partAt(now+1000, 0, "new")))
	for _, c := range []struct {
		name string
		ms   int64
	}{{"the largest timestamp", -3}, {"the committed record", now}, {"the uncommitted record", now + 1000}} {
		request := listOffsetsOf(topic, 2, c.ms)
		t.Ask("all: "+c.name, 8, request)
		committed := listOffsetsOf(topic, 2, c.ms)
		committed.IsolationLevel = 1
		t.Ask("committed: "+c.name, 8, committed)
	}
	t.Ended(p, true)
}

// fetchCommittedAt asks for what readers of both kinds see, and where the log ends for them.
func fetchCommittedAt(t *Talk, id [16]byte, when string) {
	const topic = "fetch-committed"
	t.AskEach("committed records "+when, 11, 12, committedFrom(topic, id, 0, 0))
	t.Ask("committed records behind the last stable offset "+when, 12, committedFrom(topic, id, 0, 4))
	t.Ask("all records "+when, 12, fetch(0, fetchTopic(topic, id, 0, 0)))
	for _, ms := range []int64{-1, -2, 0} {
		request := listOffsets(topic, ms)
		t.Ask("all: time "+string(rune('a'-ms))+" "+when, 8, request)
		committed := listOffsets(topic, ms)
		committed.IsolationLevel = 1
		t.Ask("committed: time "+string(rune('a'-ms))+" "+when, 8, committed)
	}
}

// fetchCommittedOld reads markers with a client that does not know them.
func fetchCommittedOld(t *Talk, topic string) {
	for version := range int16(4) {
		request := fetchFrom(topic, 8)
		t.Ask("by a client that knows no transactions", version, request, "-Topics[*].Partitions[0].Records[*]")
	}
}
