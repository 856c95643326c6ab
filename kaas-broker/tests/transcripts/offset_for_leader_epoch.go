package transcripts

import "github.com/twmb/franz-go/pkg/kmsg"

func epochEnd(topic string, partition, current, asked int32) *kmsg.OffsetForLeaderEpochRequest {
	request := kmsg.NewPtrOffsetForLeaderEpochRequest()
	wanted := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	wanted.Partition, wanted.CurrentLeaderEpoch, wanted.LeaderEpoch = partition, current, asked
	request.Topics = []kmsg.OffsetForLeaderEpochRequestTopic{{Topic: topic, Partitions: []kmsg.OffsetForLeaderEpochRequestTopicPartition{wanted}}}
	request.ReplicaID = -1
	return request
}

func offsetForLeaderEpochScript(t *Talk) {
	const name = "offset-for-leader-epoch"
	t.Topic(name, 2, forever)
	t.Prepare(9, produceTo(name, values("a", "b", "c")))
	epoch := t.Epoch(name)
	t.AskEach("the current epoch", 0, 4, epochEnd(name, 0, -1, epoch))
	t.AskEach("an epoch to come", 0, 4, epochEnd(name, 0, -1, epoch+5))
	t.AskEach("epoch -1", 0, 4, epochEnd(name, 0, -1, -1))
	t.Ask("epoch -2", 4, epochEnd(name, 0, -1, -2))
	t.Ask("the current epoch of an empty partition", 4, epochEnd(name, 1, -1, epoch))
	t.AskEach("a client that is up to date", 2, 4, epochEnd(name, 0, epoch, epoch))
	t.AskEach("a client that is ahead", 2, 4, epochEnd(name, 0, epoch+1, epoch))
	t.AskEach("an unknown topic", 0, 4, epochEnd("offset-for-leader-epoch-unknown", 0, -1, 0))
	t.Ask("an unknown partition", 4, epochEnd(name, 9, -1, 0))
	t.Ask("a negative partition", 4, epochEnd(name, -1, -1, 0))
	t.Ask("an invalid name", 4, epochEnd("..", 0, -1, 0))
	replica := epochEnd(name, 0, -1, epoch)
	replica.ReplicaID = 0
	t.AskEach("for a replica", 3, 4, replica)
	replica.ReplicaID = -2
	t.AskEach("for a debugging client", 3, 4, replica)
	t.AskEach("no topic", 0, 4, kmsg.NewPtrOffsetForLeaderEpochRequest())
	twice := epochEnd(name, 0, -1, epoch)
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, twice.Topics[0].Partitions[0])
	t.Ask("a partition twice", 4, twice)
}
