package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func morePartitions(name string, count int32, brokers ...[]int32) kmsg.CreatePartitionsRequestTopic {
	topic := kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = name, count
	for _, replicas := range brokers {
		topic.Assignment = append(topic.Assignment, kmsg.CreatePartitionsRequestTopicAssignment{Replicas: replicas})
	}
	return topic
}

func createPartitions(topics ...kmsg.CreatePartitionsRequestTopic) *kmsg.CreatePartitionsRequest {
	request := kmsg.NewPtrCreatePartitionsRequest()
	request.Topics, request.TimeoutMillis = topics, 30000
	return request
}

func createPartitionsScript(t *Talk) {
	const name = "create-partitions"
	t.Topic(name, 2)
	count := int32(2)
	for version := range int16(4) {
		count++
		check := createPartitions(morePartitions(name, count))
		check.ValidateOnly = true
		t.Ask("only validated", version, check)
		t.Ask("one more", version, createPartitions(morePartitions(name, count)))
		t.Settle()
		t.Ask("as many as there are", version, createPartitions(morePartitions(name, count)))
	}
	t.Ask("metadata of the topic that has grown", 12, metadataRequest(name))
	for _, c := range []struct {
		name  string
		topic kmsg.CreatePartitionsRequestTopic
	}{
		{"fewer", morePartitions(name, 1)},
		{"none", morePartitions(name, 0)},
		{"a negative number", morePartitions(name, -1)},
		{"an unknown topic", morePartitions("create-partitions-unknown", 3)},
		{"an invalid name", morePartitions("..", 3)},
		{"an empty name", morePartitions("", 3)},
		{"assigned to this broker", morePartitions(name, 8, []int32{0}, []int32{0})},
		{"assigned too few", morePartitions(name, 8, []int32{0})},
		{"assigned too many", morePartitions(name, 7, []int32{0}, []int32{0})},
		{"assigned to an unknown broker", morePartitions(name, 7, []int32{5})},
		{"assigned to one broker twice", morePartitions(name, 7, []int32{0, 0})},
		{"assigned to nobody", morePartitions(name, 7, []int32{})},
		{"assigned to two brokers", morePartitions(name, 7, []int32{0, 1})},
		{"fewer, assigned", morePartitions(name, 2, []int32{0})},
	} {
		check := createPartitions(c.topic)
		check.ValidateOnly = true
		t.Ask(c.name, 3, check)
	}
	t.Ask("named twice", 3, createPartitions(morePartitions(name, 9), morePartitions(name, 10)))
	t.AskEach("no topic", 0, 3, createPartitions())
	t.Ask("a good one beside a bad one", 3, createPartitions(morePartitions(name, 7), morePartitions("create-partitions-unknown", 3)))
	hurried := createPartitions(morePartitions(name, 20), morePartitions("create-partitions-unknown", 20))
	for _, hurried.TimeoutMillis = range []int32{0, -1} {
		t.Ask(noPatience(hurried.TimeoutMillis), 3, hurried)
	}
}
