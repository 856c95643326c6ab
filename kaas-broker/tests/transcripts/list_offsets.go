package transcripts

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

func listOffsets(topic string, time int64) *kmsg.ListOffsetsRequest {
	return listOffsetsOf(topic, 0, time)
}

func listOffsetsOf(topic string, partition int32, time int64) *kmsg.ListOffsetsRequest {
	request := kmsg.NewPtrListOffsetsRequest()
	wanted := kmsg.NewListOffsetsRequestTopicPartition()
	wanted.Partition, wanted.Timestamp, wanted.MaxNumOffsets = partition, time, 10
	request.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{wanted}}}
	return request
}

func listOffsetsScript(t *Talk) {
	const name = "list-offsets"
	t.Topic(name, 2, forever)
	disordered := batch.NewBuilder()
	for _, ms := range []int64{start + 100, start + 300, start + 200} {
		disordered.Add(ms, nil, []byte("x"))
	}
	t.Prepare(9, produceTo(name, values("a", "b", "c")))
	t.Prepare(9, produceTo(name, must(disordered)))
	t.Prepare(9, produceTo(name, compressed(batch.Gzip, "d", "e", "f")))
	for _, time := range []struct {
		name string
		ms   int64
	}{
		{"the end", -1},
		{"the beginning", -2},
		{"the largest timestamp", -3},
		{"the local beginning", -4},
		{"time -5", -5},
		{"time -100", -100},
		{"time 0", 0},
		{"the first record", start},
		{"the second record", start + 1},
		{"between batches", start + 50},
		{"within a disordered batch", start + 150},
		{"the largest record", start + 300},
		{"after the last record", start + 301},
		{"the end of time", 1<<63 - 1},
	} {
		t.AskEach(time.name, 0, 8, listOffsets(name, time.ms))
		t.Ask(time.name+" of an empty partition", 8, listOffsetsOf(name, 1, time.ms))
	}
	listOffsetsVariants(t, name)
	listOffsetsRefusals(t, name)
	t.Prepare(2, deleteRecords(name, 0, 4))
	t.Ask("the beginning after records were deleted", 8, listOffsets(name, -2))
	t.Ask("time 0 after records were deleted", 8, listOffsets(name, 0))
	t.Ask("the first record after it was deleted", 8, listOffsets(name, start))
	t.Ask("the end and the beginning after records were deleted", 0, listOffsets(name, -1))
}

func listOffsetsVariants(t *Talk, name string) {
	committed := listOffsets(name, -1)
	committed.IsolationLevel = 1
	t.AskEach("the committed end", 2, 8, committed)
	for _, isolation := range []int8{2, -1} {
		request := listOffsets(name, -1)
		request.IsolationLevel = isolation
		t.Ask("isolation level "+strconv.Itoa(int(isolation)), 8, request)
	}
	for _, c := range []struct {
		name  string
		epoch int32
	}{{"of the current epoch", t.Epoch(name)}, {"of a newer epoch", t.Epoch(name) + 1}} {
		request := listOffsets(name, -1)
		request.Topics[0].Partitions[0].CurrentLeaderEpoch = c.epoch
		t.AskEach("the end "+c.name, 4, 8, request)
	}
	for _, number := range []int32{0, 1, 2, -1} {
		request := listOffsets(name, -1)
		request.Topics[0].Partitions[0].MaxNumOffsets = number
		t.Ask("at most "+strconv.Itoa(int(number)), 0, request)
	}
}

func listOffsetsRefusals(t *Talk, name string) {
	t.AskEach("an unknown topic", 0, 8, listOffsets("list-offsets-unknown", -1))
	t.Ask("an unknown partition", 8, listOffsetsOf(name, 5, -1))
	t.Ask("a negative partition", 8, listOffsetsOf(name, -1, -1))
	t.Ask("an invalid name", 8, listOffsets("..", -1))
	twice := listOffsets(name, -1)
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, twice.Topics[0].Partitions[0], listOffsetsOf(name, 1, -1).Topics[0].Partitions[0])
	t.AskEach("a partition twice", 0, 8, twice)
	replica := listOffsets(name, -1)
	replica.ReplicaID = 0
	t.Ask("for a replica", 8, replica)
	replica.ReplicaID = -2
	t.Ask("for a debugging consumer", 8, replica)
	none := kmsg.NewPtrListOffsetsRequest()
	t.AskEach("no topic", 0, 8, none)
}
