package transcripts

import (
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// produceTo is a request for partition 0 with acks from everyone.
func produceTo(topic string, records []byte) *kmsg.ProduceRequest {
	return produce(-1, topic, 0, records)
}

func produce(acks int16, topic string, partition int32, records []byte) *kmsg.ProduceRequest {
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = acks, 30000
	request.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: partition, Records: records}},
	}}
	return request
}

func produceScript(t *Talk) {
	const name = "produce"
	t.Topic(name, 2, forever)
	t.AskEach("two records", 3, 10, produceTo(name, values("a", "b")))
	t.AskEach("one old message", 0, 2, produceTo(name, message0(0, []byte("k"), []byte("v"))))
	t.Ask("acks of the leader", 9, produce(1, name, 0, values("a")))
	t.AskUnanswered("no acks", 9, produce(0, name, 0, values("a")))
	t.AskUnanswered("no acks and an unknown partition", 9, produce(0, name, 7, values("a")))
	t.AskUnanswered("no acks and a broken batch", 9, produce(0, name, 0, broken(values("a"), crcAt, 1)))
	for _, acks := range []int16{2, -2, 7} {
		t.AskEach("acks "+strconv.Itoa(int(acks)), 7, 8, produce(acks, name, 0, values("a")))
	}
	t.AskEach("an unknown topic", 3, 10, produceTo("produce-unknown", values("a")))
	t.Ask("an unknown partition", 9, produce(-1, name, 2, values("a")))
	t.Ask("a negative partition", 9, produce(-1, name, -1, values("a")))
	for _, what := range invalidOrder {
		t.Ask("an invalid name, "+what, 9, produceTo(invalidNames[what], values("a")))
	}
	none := kmsg.NewPtrProduceRequest()
	none.Acks, none.TimeoutMillis = -1, 30000
	t.AskEach("no topic", 3, 10, none)
	for _, timeout := range []int32{0, -1} {
		request := produceTo(name, values("a"))
		request.TimeoutMillis = timeout
		t.Ask("a timeout of "+strconv.Itoa(int(timeout)), 9, request)
	}
	produceSeveral(t, name)
	produceMalformed(t, name)
	produceCodecs(t)
	produceSloppy(t)
	produceOldMessages(t)
	produceSettings(t)
}

func produceSeveral(t *Talk, name string) {
	both := produceTo(name, values("a"))
	both.Topics[0].Partitions = append(both.Topics[0].Partitions, kmsg.ProduceRequestTopicPartition{Partition: 1, Records: broken(values("b"), crcAt, 1)})
	t.Ask("a good and a broken partition", 9, both)
	unknown := produceTo(name, values("a"))
	unknown.Topics = append(unknown.Topics, produceTo("produce-unknown", values("b")).Topics...)
	t.Ask("a known and an unknown topic", 9, unknown)
	twice := produceTo(name, values("a"))
	twice.Topics[0].Partitions = append(twice.Topics[0].Partitions, kmsg.ProduceRequestTopicPartition{Partition: 0, Records: values("b", "c")})
	t.Ask("a partition twice", 9, twice)
	transactional := produceTo(name, values("a"))
	transactional.TransactionID = new("produce-transaction")
	t.Ask("a transactional id with a plain batch", 9, transactional)
	t.Ask("a transactional batch without a transactional id", 9, produceTo(name, changed(idempotent(5, 0, 0, 1), attributesAt, 0, 1<<4)))
}

func produceMalformed(t *Talk, name string) {
	good := values("a", "b")
	for _, c := range []struct {
		name    string
		records []byte
	}{
		{"no records", []byte{}},
		{"a wrong CRC", broken(good, crcAt, 1, 2, 3, 4)},
		{"a changed value", broken(good, len(good)-2, 'x')},
		{"cut in the header", good[:40]},
		{"cut in the records", good[:len(good)-1]},
		{"two batches", joined(good, values("c"))},
		{"two compressed batches", joined(compressed(batch.Gzip, "a"), compressed(batch.Gzip, "b"))},
		{"base offset 5", broken(good, 0, int64Bytes(5)...)},
		{"leader epoch 3", broken(good, epochAt, int32Bytes(3)...)},
		{"magic 3", broken(good, magicAt, 3)},
		{"magic -1", broken(good, magicAt, 0xff)},
		{"a message of format v1", message1(0, start, 0, nil, []byte("v"))},
		{"a message of format v0", message0(0, nil, []byte("v"))},
		{"a count above the records", changed(good, countAt, int32Bytes(3)...)},
		{"a count and last offset delta above the records", changed(changed(good, countAt, int32Bytes(3)...), lastDeltaAt, int32Bytes(2)...)},
		{"a last offset delta that is too large", changed(good, lastDeltaAt, int32Bytes(5)...)},
		{"a last offset delta that is negative", changed(good, lastDeltaAt, int32Bytes(-1)...)},
		{"a count of zero", changed(changed(good, countAt, int32Bytes(0)...), lastDeltaAt, int32Bytes(0)...)},
		{"a negative count", changed(good, countAt, int32Bytes(-1)...)},
		{"an empty batch", emptyBatch()},
		{"a control batch", changed(good, attributesAt, 0, 1<<5)},
		{"a length of zero", broken(good, lengthAt, int32Bytes(0)...)},
		{"a negative length", broken(good, lengthAt, int32Bytes(-1)...)},
		{"a length above the bytes", broken(good, lengthAt, int32Bytes(1<<20)...)},
		{"a producer id without a sequence", changed(good, producerIDAt, int64Bytes(5)...)},
		{"a producer id with epoch -1", changed(changed(good, producerIDAt, int64Bytes(5)...), baseSequenceAt, int32Bytes(0)...)},
		{"a producer epoch without a producer id", changed(good, producerEpochAt, int16Bytes(1)...)},
		{"a sequence without a producer id", changed(good, baseSequenceAt, int32Bytes(1)...)},
		{"record offset deltas that skip", skipping()},
		{"the bit of the append time", changed(good, attributesAt, 0, 1<<3)},
		{"an attribute bit without a meaning", changed(good, attributesAt, 1, 0)},
		{"a maximum timestamp that is unset", changed(good, maxTimeAt, int64Bytes(-1)...)},
		{"a maximum timestamp that is wrong", changed(good, maxTimeAt, int64Bytes(start+99)...)},
		{"no timestamp at all", changed(changed(valuesAt(-1, "a"), maxTimeAt, int64Bytes(-1)...), baseTimeAt, int64Bytes(-1)...)},
	} {
		t.Ask(c.name, 9, produceTo(name, c.records))
	}
	t.AskEach("a wrong CRC at each version", 3, 8, produceTo(name, broken(good, crcAt, 1, 2, 3, 4)))
	t.Ask("what was stored", 11, fetchFrom(name, 0), "Topics[*].Partitions[0].Records[*]")
}

// produceSloppy sends what Apache Kafka is generous or careless with, each to a partition of its own, so that no offset depends on another's fate.
func produceSloppy(t *Talk) {
	const name = "produce-sloppy"
	good := values("a", "b")
	news := []struct {
		name    string
		records []byte
	}{
		{"one byte behind the batch", joined(good, []byte{0})},
		{"half a batch behind the batch", joined(good, good[:30])},
		{"gzip that is none", changed(good, attributesAt, 0, 1)},
		{"null records", nil},
		{"a codec that does not exist", changed(good, attributesAt, 0, 7)},
	}
	olds := []struct {
		name    string
		records []byte
	}{
		{"half a message", message1(0, start, 0, nil, []byte("a"))[:20]},
		{"a message and a half", joined(message1(0, start, 0, nil, []byte("a")), message1(1, start, 0, nil, []byte("a"))[:20])},
		{"nothing", []byte{}},
		{"null", nil},
	}
	t.Topic(name, int32(len(news)+3*len(olds)), forever)
	partition := int32(0)
	for _, c := range news {
		t.Ask(c.name, 9, produce(-1, name, partition, c.records))
		partition++
	}
	for version := range int16(3) {
		for _, c := range olds {
			t.Ask("old, "+c.name, version, produce(-1, name, partition, c.records))
			partition++
		}
	}
}

// emptyBatch is a header without records.
func emptyBatch() []byte {
	b := values("a")[:batch.HeaderSize]
	b = broken(b, lengthAt, int32Bytes(int32(len(b)-prefix))...)
	return changed(changed(b, countAt, int32Bytes(0)...), lastDeltaAt, int32Bytes(-1)...)
}

// skipping is a batch of two records whose offset deltas are 0 and 5.
func skipping() []byte {
	b := batch.NewBuilder()
	b.AddAt(0, start, nil, []byte("a"))
	b.AddAt(5, start, nil, []byte("b"))
	return changed(must(b), lastDeltaAt, int32Bytes(1)...)
}

var codecs = []batch.Compression{batch.None, batch.Gzip, batch.Snappy, batch.Lz4, batch.Zstd}

func produceCodecs(t *Talk) {
	const name = "produce-codecs"
	t.Topic(name, 1, forever)
	for _, codec := range codecs {
		records := compressed(codec, strings.Repeat("a", 100), strings.Repeat("b", 100))
		t.AskEach("compressed by "+codec.String(), 3, 9, produceTo(name, records))
	}
	t.Ask("what was compressed", 11, fetchFrom(name, 0), "*")
	for _, codec := range append(codecs, batch.KeepCompression) {
		topic := "produce-stored-as-" + codec.String()
		if codec == batch.KeepCompression {
			topic = "produce-stored-as-producer"
		}
		setting, _ := strings.CutPrefix(topic, "produce-stored-as-")
		if codec == batch.None {
			setting = "uncompressed"
		}
		t.Topic(topic, 1, forever, "compression.type="+setting)
		t.Ask("plain for "+topic, 9, produceTo(topic, values("a", "b")))
		t.Ask("lz4 for "+topic, 9, produceTo(topic, compressed(batch.Lz4, "c", "d")))
		t.Ask("zstd for "+topic, 6, produceTo(topic, compressed(batch.Zstd, "c", "d")))
		t.Ask("records of "+topic, 11, fetchFrom(topic, 0))
	}
}

func produceOldMessages(t *Talk) {
	const name = "produce-old"
	t.Topic(name, 1, forever)
	for version := range int16(3) {
		for _, c := range []struct {
			name    string
			records []byte
		}{
			{"three messages of format v0", joined(message0(0, nil, []byte("a")), message0(1, []byte("k"), nil), message0(2, nil, []byte("c")))},
			{"two messages of format v1", joined(message1(0, start, 0, nil, []byte("a")), message1(1, start+5, 0, []byte("k"), []byte("b")))},
			{"a batch of format v2", values("a", "b")},
			{"two batches of format v2", joined(values("a"), values("b"))},
			{"a message with a wrong CRC", broken(message1(0, start, 0, nil, []byte("a")), prefix, 1)},
			{"a good message and one with a wrong CRC", joined(message1(0, start, 0, nil, []byte("a")), broken(message1(1, start, 0, nil, []byte("a")), prefix, 1))},
			{"an old message without a timestamp", message1(0, -1, 0, nil, []byte("a"))},
			{"an old message with the bit of the append time", message1(0, start, 1<<3, nil, []byte("a"))},
			{"old messages whose offsets are all 0", joined(message1(0, start, 0, nil, []byte("a")), message1(0, start, 0, nil, []byte("b")))},
			{"old messages of both formats", joined(message0(0, nil, []byte("a")), message1(1, start, 0, nil, []byte("b")))},
		} {
			t.Ask(c.name, version, produceTo(name, c.records))
		}
	}
	t.Ask("what became of old messages", 11, fetchFrom(name, 0))
}

func produceSettings(t *Talk) {
	t.Topic("produce-compacted", 1, "cleanup.policy=compact", forever)
	t.AskEach("no key for a compacted topic", 7, 9, produceTo("produce-compacted", values("a", "b")))
	t.Ask("an empty key for a compacted topic", 9, produceTo("produce-compacted", pairs("", "v")))
	t.Ask("some keys for a compacted topic", 9, produceTo("produce-compacted", someKeys()))
	t.Ask("an old message without key for a compacted topic", 2, produceTo("produce-compacted", message1(0, start, 0, nil, []byte("a"))))
	t.Topic("produce-small", 1, forever, "max.message.bytes=200")
	size := 200 - len(values("")) - 1 // a value of 64 bytes or more needs two bytes for its length, and one more for the record's
	t.AskEach("larger than allowed", 7, 9, produceTo("produce-small", values(strings.Repeat("x", 200))))
	t.Ask("as large as allowed", 9, produceTo("produce-small", values(strings.Repeat("x", size-1))))
	t.Ask("one byte larger than allowed", 9, produceTo("produce-small", values(strings.Repeat("x", size))))
	t.Ask("compressed to less than allowed", 9, produceTo("produce-small", compressed(batch.Gzip, strings.Repeat("x", 1000))))
	t.Topic("produce-stamped", 1, forever, "message.timestamp.type=LogAppendTime")
	t.AskEach("stamped by the broker", 1, 2, produceTo("produce-stamped", message0(0, nil, []byte("a"))))
	t.AskEach("stamped by the broker", 3, 10, produceTo("produce-stamped", values("a", "b")))
	t.Ask("what was stamped", 11, fetchFrom("produce-stamped", 2))
	t.Topic("produce-timely", 1, forever, "message.timestamp.before.max.ms=3600000", "message.timestamp.after.max.ms=3600000")
	now := time.Now().UnixMilli()
	t.Ask("a timestamp of now", 9, produceTo("produce-timely", valuesAt(now, "a")))
	t.AskEach("a timestamp too far in the past", 7, 9, produceTo("produce-timely", values("a", "b")))
	t.Ask("a timestamp too far in the future", 9, produceTo("produce-timely", valuesAt(now+7200000, "a")))
	t.Ask("no timestamp where they are bounded", 9, produceTo("produce-timely", valuesAt(-1, "a")))
	t.Ask("an old message too far in the past", 2, produceTo("produce-timely", message1(0, start, 0, nil, []byte("a"))))
	t.Topic("produce-cautious", 1, forever, "min.insync.replicas=3")
	t.Ask("more replicas asked for than there are", 9, produceTo("produce-cautious", values("a")))
}

// someKeys is a batch in which only the second of three records has a key.
func someKeys() []byte {
	b := batch.NewBuilder()
	b.Add(start, nil, []byte("a"))
	b.Add(start, []byte("k"), []byte("b"))
	b.Add(start, nil, []byte("c"))
	return must(b)
}
