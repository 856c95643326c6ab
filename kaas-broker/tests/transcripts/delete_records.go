package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func deleteRecords(topic string, partition int32, offset int64) *kmsg.DeleteRecordsRequest {
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 30000
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}},
	}}
	return request
}

func deleteRecordsScript(t *Talk) {
	const name = "delete-records"
	t.Topic(name, 2, forever)
	t.Prepare(9, produceTo(name, values("a", "b", "c", "d", "e", "f", "g", "h")))
	for version := range int16(3) {
		t.Ask("before an offset", version, deleteRecords(name, 0, int64(version)+1))
		t.Ask("before the log start offset", version, deleteRecords(name, 0, 0))
	}
	t.Ask("where the log begins now", 7, listOffsets(name, -2))
	t.Ask("records below the log start offset", 11, fetchFrom(name, 1))
	t.Ask("records from within a batch", 11, fetchFrom(name, 3))
	t.Ask("beyond the high watermark", 2, deleteRecords(name, 0, 9))
	t.Ask("offset -2", 2, deleteRecords(name, 0, -2))
	t.Ask("everything", 2, deleteRecords(name, 0, -1))
	t.Ask("everything of an empty partition", 2, deleteRecords(name, 1, -1))
	t.Ask("beyond the end of an empty partition", 2, deleteRecords(name, 1, 1))
	t.Ask("records at the end", 11, fetchFrom(name, 8))
	t.Ask("the end", 7, listOffsets(name, -1))
	t.Ask("produce after everything was deleted", 9, produceTo(name, values("i")))
	t.AskEach("an unknown topic", 0, 2, deleteRecords("delete-records-unknown", 0, 0))
	t.Ask("an unknown partition", 2, deleteRecords(name, 2, 0))
	t.Ask("a negative partition", 2, deleteRecords(name, -1, 0))
	t.Ask("an invalid name", 2, deleteRecords("..", 0, 0))
	empty := kmsg.NewPtrDeleteRecordsRequest()
	empty.TimeoutMillis = 30000
	t.AskEach("no topic", 0, 2, empty)

	t.Topic("delete-records-compacted", 1, "cleanup.policy=compact", forever)
	t.Topic("delete-records-both", 1, "cleanup.policy=compact,delete", forever)
	t.Topic("delete-records-neither", 1, "cleanup.policy=", forever)
	for _, topic := range []string{"delete-records-compacted", "delete-records-both", "delete-records-neither"} {
		t.Prepare(9, produceTo(topic, pairs("k", "v")))
		t.Ask("of "+topic, 2, deleteRecords(topic, 0, 1))
	}
	both := deleteRecords(name, 0, -1)
	both.Topics[0].Partitions = append(both.Topics[0].Partitions, kmsg.DeleteRecordsRequestTopicPartition{Partition: 9})
	t.Ask("a known and an unknown partition", 2, both)
}
