package transcripts

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// plenty is a limit that no script reaches.
const plenty = 1 << 20

func fetchFrom(topic string, offset int64) *kmsg.FetchRequest {
	return fetch(0, fetchTopic(topic, [16]byte{}, 0, offset))
}

// fetch is a request without a session.
func fetch(wait int32, topics ...kmsg.FetchRequestTopic) *kmsg.FetchRequest {
	request := kmsg.NewPtrFetchRequest()
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = wait, 1, plenty
	request.SessionEpoch = -1
	request.Topics = topics
	return request
}

// fetchTopic wants one partition of a topic, by name in old versions and by id in new ones.
func fetchTopic(topic string, id [16]byte, partition int32, offset int64) kmsg.FetchRequestTopic {
	wanted := kmsg.NewFetchRequestTopicPartition()
	wanted.Partition, wanted.FetchOffset, wanted.PartitionMaxBytes = partition, offset, plenty
	return kmsg.FetchRequestTopic{Topic: topic, TopicID: id, Partitions: []kmsg.FetchRequestTopicPartition{wanted}}
}

func fetchScript(t *Talk) {
	const name = "fetch"
	id := t.Topic(name, 3, forever)
	t.Prepare(9, produceTo(name, pairs("k", "a", "l", "b")))
	t.Prepare(9, produceTo(name, values("c", "d", "e")))
	t.Prepare(9, produceTo(name, compressed(batch.Gzip, "f", "g")))
	for _, from := range []struct {
		name   string
		offset int64
	}{
		{"from the beginning", 0},
		{"from within a batch", 3},
		{"from within a compressed batch", 6},
		{"from the end", 7},
		{"beyond the end", 8},
		{"from -1", -1},
		{"from the largest offset", 1<<63 - 1},
	} {
		t.AskEach(from.name, 0, 16, fetch(0, fetchTopic(name, id, 0, from.offset)))
	}
	t.AskEach("an empty partition", 0, 16, fetch(0, fetchTopic(name, id, 1, 0)))
	t.AskEach("an unknown partition", 0, 16, fetch(0, fetchTopic(name, id, 9, 0)))
	t.AskEach("an unknown topic", 0, 16, fetch(0, fetchTopic("fetch-unknown", strangerID, 0, 0)))
	t.Ask("a negative partition", 16, fetch(0, fetchTopic(name, id, -1, 0)))
	t.Ask("an id of zeros", 16, fetch(0, fetchTopic(name, [16]byte{}, 0, 0)))
	t.Ask("an invalid name", 11, fetch(0, fetchTopic("..", id, 0, 0)))
	t.AskEach("no topic", 0, 16, fetch(0))
	t.Ask("two partitions and an unknown one", 11, fetch(0, fetchTopic(name, id, 0, 5), fetchTopic(name, id, 1, 0), fetchTopic(name, id, 9, 0)))
	t.Ask("a partition twice", 11, fetch(0, fetchTopic(name, id, 0, 5), fetchTopic(name, id, 0, 0)))
	fetchLimits(t, name, id)
	fetchWaits(t, name, id)
	fetchEpochs(t, name, id)
	fetchReaders(t, name, id)
	fetchConverted(t)
}

func fetchLimits(t *Talk, name string, id [16]byte) {
	size := int32(len(pairs("k", "a", "l", "b")))
	for _, limit := range []struct {
		name         string
		all, perPart int32
	}{
		{"1 byte of each partition", plenty, 1},
		{"0 bytes of each partition", plenty, 0},
		{"-1 bytes of each partition", plenty, -1},
		{"the first batch", plenty, size},
		{"the first batch and a byte", plenty, size + 1},
		{"a byte less than the first batch", plenty, size - 1},
		{"1 byte in all", 1, plenty},
		{"0 bytes in all", 0, plenty},
		{"the first batch in all", size, plenty},
		{"-1 bytes in all", -1, plenty},
	} {
		request := fetch(0, fetchTopic(name, id, 0, 0))
		request.MaxBytes, request.Topics[0].Partitions[0].PartitionMaxBytes = limit.all, limit.perPart
		for _, version := range []int16{2, 3, 11, 16} {
			t.Ask(limit.name, version, request)
		}
	}
	second := fetch(0, fetchTopic(name, id, 0, 0), fetchTopic(name, id, 0, 2))
	t.Prepare(9, produce(-1, name, 2, values("x", "y")))
	second.Topics[1].Partitions[0].Partition, second.Topics[1].Partitions[0].FetchOffset = 2, 0
	second.MaxBytes, second.Topics[0].Partitions[0].PartitionMaxBytes = size, size
	t.Ask("a second partition when the limit is reached", 11, second)
}

func fetchWaits(t *Talk, name string, id [16]byte) {
	t.Ask("a wait at the end", 11, fetch(1000, fetchTopic(name, id, 0, 7)))
	t.Ask("a wait where there are records", 11, fetch(1000, fetchTopic(name, id, 0, 5)))
	t.Ask("a wait beyond the end", 11, fetch(1000, fetchTopic(name, id, 0, 8)))
	t.Ask("a wait for an unknown partition", 11, fetch(1000, fetchTopic(name, id, 9, 0)))
	t.Ask("a wait for an unknown id", 16, fetch(1000, fetchTopic(name, strangerID, 0, 0)))
	t.Ask("a wait with nothing to wait for", 11, fetch(1000))
	t.Ask("a wait for a good and an unknown partition", 11, fetch(1000, fetchTopic(name, id, 0, 7), fetchTopic(name, id, 9, 0)))
	none := fetch(1000, fetchTopic(name, id, 0, 7))
	none.MinBytes = 0
	t.Ask("a wait for no bytes", 11, none)
	many := fetch(1000, fetchTopic(name, id, 0, 0))
	many.MinBytes = 100000
	t.Ask("a wait for more bytes than there are", 11, many)
	capped := fetch(1000, fetchTopic(name, id, 0, 0))
	capped.MinBytes, capped.MaxBytes = 100000, 100
	t.Ask("a wait for more bytes than the limit", 11, capped)
	negative := fetch(-1, fetchTopic(name, id, 0, 7))
	t.Ask("a negative wait", 11, negative)
}

func fetchEpochs(t *Talk, name string, id [16]byte) {
	epoch := t.Epoch(name)
	for _, c := range []struct {
		name          string
		current, last int32
		offset        int64
	}{
		{"the current epoch", epoch, -1, 5},
		{"an epoch to come", epoch + 1, -1, 5},
		{"a last epoch that is the current one", -1, epoch, 5},
		{"a last epoch to come", -1, epoch + 1, 5},
		{"a last epoch beyond the end", -1, epoch, 8},
	} {
		request := fetch(0, fetchTopic(name, id, 0, c.offset))
		request.Topics[0].Partitions[0].CurrentLeaderEpoch, request.Topics[0].Partitions[0].LastFetchedEpoch = c.current, c.last
		for _, version := range []int16{9, 11, 12, 16} {
			t.Ask(c.name, version, request)
		}
	}
}

func fetchReaders(t *Talk, name string, id [16]byte) {
	for _, isolation := range []int8{1, 2, -1} {
		request := fetch(0, fetchTopic(name, id, 0, 5))
		request.IsolationLevel = isolation
		t.AskEach("isolation level "+strconv.Itoa(int(isolation)), 11, 12, request)
	}
	debugging := fetch(0, fetchTopic(name, id, 0, 5))
	debugging.ReplicaID = -2
	t.Ask("a debugging consumer", 11, debugging)
	rack := fetch(0, fetchTopic(name, id, 0, 5))
	rack.Rack = "elsewhere"
	t.AskEach("a reader in another rack", 11, 12, rack)
}

// fetchConverted reads what old versions cannot read as it is.
func fetchConverted(t *Talk) {
	for _, codec := range codecs {
		topic := "fetch-" + codec.String()
		id := t.Topic(topic, 1, forever)
		t.Prepare(9, produceTo(topic, compressed(codec, strings.Repeat("a", 50), "b")))
		t.Prepare(9, produceTo(topic, values("c")))
		t.AskEach("records compressed by "+codec.String(), 0, 12, fetch(0, fetchTopic(topic, id, 0, 0)))
		request := fetch(0, fetchTopic(topic, id, 0, 1))
		t.AskEach("from within records compressed by "+codec.String(), 0, 4, request)
	}
	id := t.Topic("fetch-stored-zstd", 1, forever, "compression.type=zstd")
	t.Prepare(9, produceTo("fetch-stored-zstd", values("a", "b")))
	t.AskEach("a topic that is stored as zstd", 0, 12, fetch(0, fetchTopic("fetch-stored-zstd", id, 0, 0)))
	id = t.Topic("fetch-unconverted", 1, forever, "message.downconversion.enable=false")
	t.Prepare(9, produceTo("fetch-unconverted", values("a", "b")))
	t.AskEach("a topic that is not converted", 0, 4, fetch(0, fetchTopic("fetch-unconverted", id, 0, 0)))
	id = t.Topic("fetch-producer", 1, forever)
	t.Prepare(9, produceTo("fetch-producer", idempotent(newProducer(t), 0, 0, 2)))
	t.AskEach("records of an idempotent producer", 0, 4, fetch(0, fetchTopic("fetch-producer", id, 0, 0)))
	id = t.Topic("fetch-stamped", 1, forever, "message.timestamp.type=LogAppendTime")
	t.Prepare(9, produceTo("fetch-stamped", values("a", "b")))
	t.AskEach("records stamped by the broker", 0, 4, fetch(0, fetchTopic("fetch-stamped", id, 0, 0)))
}
