package batch_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// oracleVariable names, as host:port, a running Apache Kafka 3.7 that gets the same requests:
//
//	KAAS_TEST_KAFKA=127.0.0.1:19092 go test -run Kafka ./batch
const oracleVariable = "KAAS_TEST_KAFKA"

// deviations are the cases in which we answer otherwise on purpose, with Kafka's code: -1 is an
// unknown server error, 0 means that Kafka took the request and perhaps dropped bytes of it.
var deviations = map[string]int16{
	"null records":        -1,
	"null records in v2":  -1,
	"cut in v2":           0,
	"bytes behind":        0,
	"unknown codec":       -1,
	"transactional batch": 53, // the broker's business: the request names no transactional id
	"cut":                 0,
	"cut in header":       0, // of a message set; in the case of a batch both answer alike
	"other codec":         -1,
}

func TestKafkaGivesTheSameAnswers(t *testing.T) {
	address := os.Getenv(oracleVariable)
	if address == "" {
		t.Skipf("%s does not name a running Apache Kafka 3.7", oracleVariable)
	}
	kafka := oracle{t: t, address: address, topics: map[string]string{}}
	groups := map[string][]validation{
		"header": headerCases(t), "keys": keyCases(t), "legacy": legacyCases(t),
	}
	for name, cases := range groups {
		for _, c := range cases {
			t.Run(name+"/"+c.name, func(t *testing.T) { kafka.compare(t, c) })
		}
	}
}

// oracle talks to that Kafka.
type oracle struct {
	t       *testing.T
	address string
	topics  map[string]string // by settings
}

func (o *oracle) compare(t *testing.T, c validation) {
	rules := batch.DefaultRules()
	rules.Version = 9
	if c.rules != nil {
		c.rules(&rules)
	}
	if rules.MaxDecompressed != 0 {
		t.Skip("Kafka has no limit of decompressed bytes")
	}
	topic := o.topic(rules)
	answer := o.produce(topic, rules.Version, c.records)
	want := codeOf(c.want)
	if deviation, ok := deviations[c.name]; ok && answer.ErrorCode == deviation {
		return
	}
	if answer.ErrorCode != want {
		t.Fatalf("Kafka answers %d, we %d", answer.ErrorCode, want)
	}
	if rules.Version >= 8 && len(answer.ErrorRecords) != c.bad {
		t.Errorf("Kafka lists %d records, we %d", len(answer.ErrorRecords), c.bad)
	}
	if c.want != nil || rules.AppendTime {
		return
	}
	ours, err := c.validate(nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := batch.Next(o.fetch(topic, answer.BaseOffset))
	if err != nil {
		t.Fatal(err)
	}
	ours.SetBaseOffset(theirs.BaseOffset())
	sameRecords(t, plainRecords(t, ours), plainRecords(t, theirs))
	if ours.Attributes() != theirs.Attributes() || ours.MaxTimestamp() != theirs.MaxTimestamp() || ours.BaseTimestamp() != theirs.BaseTimestamp() {
		t.Errorf("header %x, Kafka's %x", []byte(ours[:batch.HeaderSize]), []byte(theirs[:batch.HeaderSize]))
	}
}

func codeOf(reason error) int16 {
	codes := map[error]int16{
		nil: 0, batch.ErrCorrupt: 2, batch.ErrTooLarge: 10, batch.ErrInvalidTimestamp: 32,
		batch.ErrUnsupportedFormat: 43, batch.ErrUnsupportedCompression: 76, batch.ErrInvalidRecord: 87,
	}
	return codes[reason]
}

// topic creates a topic with the settings of the rules once.
func (o *oracle) topic(rules batch.Rules) string {
	settings := map[string]string{"max.message.bytes": strconv.Itoa(min(rules.MaxBytes, math.MaxInt32))}
	if rules.Compacted {
		settings["cleanup.policy"] = "compact"
	}
	if rules.AppendTime {
		settings["message.timestamp.type"] = "LogAppendTime"
	}
	if rules.Compression != batch.KeepCompression {
		settings["compression.type"] = rules.Compression.String()
	}
	key := fmt.Sprint(settings)
	if name, ok := o.topics[key]; ok {
		return name
	}
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic = fmt.Sprintf("batch-oracle-%d", time.Now().UnixNano())
	topic.NumPartitions, topic.ReplicationFactor = 1, 1
	for name, value := range settings {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = name, &value
		topic.Configs = append(topic.Configs, config)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version, request.TimeoutMillis = 4, 5000
	request.Topics = append(request.Topics, topic)
	if code := o.roundTrip(request).(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode; code != 0 {
		o.t.Fatalf("create topic: code %d", code)
	}
	o.topics[key] = topic.Topic
	return topic.Topic
}

func (o *oracle) produce(topic string, version int16, records []byte) kmsg.ProduceResponseTopicPartition {
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.Acks, request.TimeoutMillis = version, -1, 5000
	row := kmsg.NewProduceRequestTopic()
	row.Topic = topic
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = records
	row.Partitions = append(row.Partitions, partition)
	request.Topics = append(request.Topics, row)
	for range 50 {
		answer := o.roundTrip(request).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		if answer.ErrorCode != 3 && answer.ErrorCode != 6 { // the new topic has no leader yet
			return answer
		}
		time.Sleep(100 * time.Millisecond)
	}
	o.t.Fatalf("topic %s has no leader", topic)
	return kmsg.ProduceResponseTopicPartition{}
}

func (o *oracle) fetch(topic string, offset int64) []byte {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.MaxWaitMillis, request.MinBytes, request.MaxBytes = 10, 1000, 1, 1<<20
	row := kmsg.NewFetchRequestTopic()
	row.Topic = topic
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.FetchOffset, partition.PartitionMaxBytes = offset, 1<<20
	row.Partitions = append(row.Partitions, partition)
	request.Topics = append(request.Topics, row)
	return o.roundTrip(request).(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
}

// roundTrip sends a request on a connection of its own, since Kafka closes some of them.
func (o *oracle) roundTrip(request kmsg.Request) kmsg.Response {
	o.t.Helper()
	connection, err := net.Dial("tcp", o.address)
	if err != nil {
		o.t.Fatal(err)
	}
	defer connection.Close()
	encoded := kmsg.NewRequestFormatter().AppendRequest(nil, request, 1)
	var size [4]byte
	err = errors.Join(connection.SetDeadline(time.Now().Add(20*time.Second)), second(connection.Write(encoded)))
	if err == nil {
		_, err = io.ReadFull(connection, size[:])
	}
	if err != nil {
		o.t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(connection, body); err != nil {
		o.t.Fatal(err)
	}
	body = body[4:] // correlation id
	if request.IsFlexible() {
		body = body[1:] // no tags in the header
	}
	response := request.ResponseKind()
	response.SetVersion(request.GetVersion())
	if err := response.ReadFrom(body); err != nil {
		o.t.Fatal(err)
	}
	return response
}
