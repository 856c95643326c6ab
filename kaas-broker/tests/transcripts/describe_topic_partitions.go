package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func describeTopics(limit int32, names ...string) *kmsg.DescribeTopicPartitionsRequest {
	request := kmsg.NewPtrDescribeTopicPartitionsRequest()
	request.ResponsePartitionLimit = limit
	for _, name := range names {
		request.Topics = append(request.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: name})
	}
	return request
}

func describeTopicPartitionsScript(t *Talk) {
	const first, second = "describe-partitions-a", "describe-partitions-b"
	t.Topic(first, 3)
	t.Topic(second, 2)
	t.Ask("one topic", 0, describeTopics(100, first))
	t.Ask("two topics", 0, describeTopics(100, second, first))
	t.Ask("every topic", 0, describeTopics(100))
	t.Ask("an unknown topic", 0, describeTopics(100, "describe-partitions-unknown"))
	t.Ask("a known and an unknown topic", 0, describeTopics(100, first, "describe-partitions-unknown", second))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 0, describeTopics(100, invalidNames[what]))
	}
	t.Ask("named twice", 0, describeTopics(100, first, first))
	t.Ask("a limit within the first topic", 0, describeTopics(2, first, second))
	t.Ask("a limit at the end of the first topic", 0, describeTopics(3, first, second))
	t.Ask("a limit within the second topic", 0, describeTopics(4, first, second))
	t.Ask("a limit of everything", 0, describeTopics(5, first, second))
	t.Ask("a limit of 0", 0, describeTopics(0, first))
	t.Ask("a limit of -1", 0, describeTopics(-1, first))
	for _, cursor := range []struct {
		name      string
		topic     string
		partition int32
	}{
		{"within the first topic", first, 1},
		{"at the end of the first topic", first, 3},
		{"at the second topic", second, 0},
		{"behind the last topic", "describe-partitions-c", 0},
		{"between the topics", "describe-partitions-aa", 1},
		{"at a negative partition", first, -1},
		{"beyond the partitions", first, 9},
		{"without a topic", "", 0},
	} {
		request := describeTopics(100, first, second)
		request.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: cursor.topic, Partition: cursor.partition}
		t.Ask("a cursor "+cursor.name, 0, request)
	}
}
