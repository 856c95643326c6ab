package hostile

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// Producers and consumers with settings that nobody chooses.
func TestOddClientSettings(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev, Decodes: []string{"up-convert", "down-convert"}})
	watch(t, broker, 300*mib)
	runBeside(t, broker.Bootstrap())
	plain := []kgo.Opt{kgo.DisableIdempotentWrite()}
	with := func(options ...kgo.Opt) []kgo.Opt { return options }
	tiny := with(kgo.FetchMaxBytes(1), kgo.FetchMaxPartitionBytes(1))
	for _, tested := range []struct {
		name             string
		produce, consume []kgo.Opt
		lossy            bool
	}{
		{name: "acks 0", produce: append(plain, kgo.RequiredAcks(kgo.NoAck())), lossy: true},
		{name: "acks 1, 100 in flight", produce: append(plain, kgo.RequiredAcks(kgo.LeaderAck()), kgo.MaxProduceRequestsInflightPerBroker(100))},
		{name: "acks all, 1 in flight", produce: append(plain, kgo.MaxProduceRequestsInflightPerBroker(1))},
		{name: "linger, tiny batches", produce: with(kgo.ProducerLinger(50*time.Millisecond), kgo.ProducerBatchMaxBytes(512))},
		{name: "one byte at a time", consume: tiny},
		{name: "all at once", consume: with(kgo.FetchMaxBytes(1<<30), kgo.FetchMaxPartitionBytes(1<<30), kgo.BrokerMaxReadBytes(1<<30))},
		{name: "no wait", consume: with(kgo.FetchMaxWait(10 * time.Millisecond))},
		{name: "waits for a gigabyte", consume: with(kgo.FetchMinBytes(1<<30), kgo.FetchMaxBytes(1<<30), kgo.BrokerMaxReadBytes(1<<30), kgo.FetchMaxWait(200*time.Millisecond))},
		{name: "without sessions", consume: with(kgo.DisableFetchSessions())},
		{name: "0.10", produce: append(plain, kgo.MaxVersions(kversion.V0_10_0())), consume: with(kgo.MaxVersions(kversion.V0_10_0()))},
		{name: "0.8", produce: append(plain, kgo.MaxVersions(kversion.V0_8_0())), consume: with(kgo.MaxVersions(kversion.V0_8_0()))},
		{name: "1.0, tiny fetches", produce: append(plain, kgo.MaxVersions(kversion.V1_0_0())), consume: append(tiny, kgo.MaxVersions(kversion.V1_0_0()))},
	} {
		t.Run(tested.name, func(t *testing.T) {
			topic := fmt.Sprintf("odd-%d", time.Now().UnixNano())
			createTopic(t, broker.Bootstrap(), topic, 1)
			produceAndConsume(t, broker.Bootstrap(), topic, tested.produce, tested.consume, tested.lossy)
		})
	}
}

// produceAndConsume sends records with one client and reads them with another.
func produceAndConsume(t *testing.T, address, topic string, produce, consume []kgo.Opt, lossy bool) {
	t.Helper()
	const count = 300
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	producer := newClient(t, address, append([]kgo.Opt{kgo.DefaultProduceTopic(topic)}, produce...)...)
	for i := range count {
		producer.Produce(ctx, kgo.StringRecord(fmt.Sprintf("%06d", i)), func(_ *kgo.Record, err error) {
			if err != nil {
				t.Errorf("record %d: %v", i, err)
			}
		})
	}
	if err := producer.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	consumer := newClient(t, address, append([]kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(0)}}),
	}, consume...)...)
	received := 0
	for received < count {
		fetches := consumer.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", received, count, err)
		}
		fetches.EachError(func(_ string, _ int32, err error) { t.Fatalf("after %d records: %v", received, err) })
		fetches.EachRecord(func(r *kgo.Record) {
			if want := fmt.Sprintf("%06d", received); string(r.Value) != want && !lossy {
				t.Fatalf("record %s where %s was expected", r.Value, want)
			}
			received++
		})
	}
}

// Metadata, configuration and deletion of thousands of topics in one request, most of which do not exist.
func TestThousandsOfNamesInOneRequest(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 500*mib)
	runBeside(t, broker.Bootstrap())
	count := pick(20_000, 100_000)
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("no-such-topic-%d", i))
	}
	metadata := metadataRequest(names...)
	metadata.AllowAutoTopicCreation = false
	configs, alter := kmsg.NewPtrDescribeConfigsRequest(), kmsg.NewPtrIncrementalAlterConfigsRequest()
	configs.Version, alter.Version = 4, 1
	list, offsets, fetch := kmsg.NewPtrListOffsetsRequest(), kmsg.NewPtrOffsetForLeaderEpochRequest(), fetchRequest(11, "x", 0)
	list.Version, offsets.Version = 7, 4
	fetch.SessionEpoch, fetch.Topics = 0, nil
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Version, remove.TimeoutMillis = 5, 30_000
	remove.TopicNames = names
	long := strings.Repeat("retention.ms", 2700)
	for i, name := range names {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, name
		configs.Resources = append(configs.Resources, resource)
		topic := kmsg.NewListOffsetsRequestTopic()
		topic.Topic, topic.Partitions = name, []kmsg.ListOffsetsRequestTopicPartition{{Partition: int32(i), Timestamp: -1}}
		list.Topics = append(list.Topics, topic)
		fetched := kmsg.NewFetchRequestTopic()
		fetched.Topic, fetched.Partitions = name, []kmsg.FetchRequestTopicPartition{{Partition: int32(i), PartitionMaxBytes: 1}}
		fetch.Topics = append(fetch.Topics, fetched)
		asked := kmsg.NewOffsetForLeaderEpochRequestTopic()
		asked.Topic, asked.Partitions = name, []kmsg.OffsetForLeaderEpochRequestTopicPartition{{Partition: int32(i)}}
		offsets.Topics = append(offsets.Topics, asked)
		if i < 200 {
			altered := kmsg.NewIncrementalAlterConfigsRequestResource()
			altered.ResourceType, altered.ResourceName = kmsg.ConfigResourceTypeTopic, name
			altered.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: long, Value: &long}}
			alter.Resources = append(alter.Resources, altered)
		}
	}
	for _, request := range []kmsg.Request{metadata, configs, alter, list, offsets, fetch, remove} {
		began := time.Now()
		connection := dial(t, broker.Bootstrap())
		if err := connection.send(request); err != nil {
			t.Fatal(err)
		}
		answer, err := connection.receive(20 * time.Second)
		t.Logf("%s: %d KiB in %v, %v", kmsg.NameForKey(request.Key()), len(answer)>>10, time.Since(began).Round(time.Millisecond), err)
		if err != nil {
			t.Errorf("%s: %v", kmsg.NameForKey(request.Key()), err)
		}
	}
}

// A topic of 10,000 partitions is made, described, read and deleted.
func TestTenThousandPartitions(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 500*mib)
	runBeside(t, broker.Bootstrap())
	partitions := int32(pick(3000, 10_000))
	began := time.Now()
	createTopic(t, broker.Bootstrap(), "wide", partitions)
	t.Logf("%d partitions in %v", partitions, time.Since(began).Round(time.Millisecond))
	metadata, fetch := metadataRequest("wide"), fetchRequest(11, "wide", 0)
	fetch.SessionEpoch, fetch.Topics[0].Partitions = 0, nil
	list := kmsg.NewPtrListOffsetsRequest()
	list.Version = 7
	list.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "wide"}}
	for i := range partitions {
		fetch.Topics[0].Partitions = append(fetch.Topics[0].Partitions, kmsg.FetchRequestTopicPartition{Partition: i, CurrentLeaderEpoch: -1, PartitionMaxBytes: 1000})
		list.Topics[0].Partitions = append(list.Topics[0].Partitions, kmsg.ListOffsetsRequestTopicPartition{Partition: i, CurrentLeaderEpoch: -1, Timestamp: -3})
	}
	together(t, pick(8, 40), func(int) error {
		connection, err := connect(broker.Bootstrap())
		if err != nil {
			return err
		}
		defer connection.Close()
		for _, request := range []kmsg.Request{metadata, fetch, list} {
			response, err := connection.call(request, 30*time.Second)
			if err != nil {
				return fmt.Errorf("%s: %w", kmsg.NameForKey(request.Key()), err)
			}
			if found, is := response.(*kmsg.MetadataResponse); is && int32(len(found.Topics[0].Partitions)) != partitions {
				return fmt.Errorf("metadata has %d partitions", len(found.Topics[0].Partitions))
			}
		}
		return nil
	})
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.Version, request.TimeoutMillis, request.TopicNames = 5, 60_000, []string{"wide"}
	response, err := dial(t, broker.Bootstrap()).call(request, 60*time.Second)
	if err != nil || response.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode != 0 {
		t.Errorf("delete: %v, %+v", err, response)
	}
}

// Values of settings that are numbers, names or lists, only not such as anybody means.
func TestHostileValuesOfSettings(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	createTopic(t, broker.Bootstrap(), "set", 1)
	watch(t, broker, 200*mib)
	runBeside(t, broker.Bootstrap())
	long := strings.Repeat("9", 32<<10-1)
	values := []string{
		"", " ", "-1", "-0", "+1", "0x10", "1e3", "1.5", "NaN", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "2147483648", "٣", "1_000", "true", "TRUE",
		"null", "delete,compact,delete", strings.Repeat("compact,", 4000), "\x00", "\n", "../..", "{{.}}", "${jndi:ldap://x}", long, "\xff\xfe", "zstd\x00", "CreateTime ", "*:*", "0:0,1:1",
	}
	names := []string{
		"cleanup.policy", "compression.type", "max.message.bytes", "message.timestamp.type", "message.timestamp.before.max.ms", "retention.ms", "retention.bytes", "segment.bytes",
		"segment.ms", "flush.messages", "flush.ms", "min.cleanable.dirty.ratio", "min.insync.replicas", "unclean.leader.election.enable", "follower.replication.throttled.replicas",
		"index.interval.bytes", "segment.index.bytes", "preallocate", "delete.retention.ms", "no.such", "", long,
	}
	connection := dial(t, broker.Bootstrap())
	counts := map[int16]int{}
	for _, name := range names {
		for _, value := range values {
			for _, operation := range []kmsg.IncrementalAlterConfigOp{0, 1, 2, 3, 4, -1} {
				request := kmsg.NewPtrIncrementalAlterConfigsRequest()
				request.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
					ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "set",
					Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Op: operation, Value: &value}},
				}}
				response, err := connection.call(request, 20*time.Second)
				if err != nil {
					t.Fatalf("%.40q=%.40q operation %d: %v", name, value, operation, err)
				}
				counts[response.(*kmsg.IncrementalAlterConfigsResponse).Resources[0].ErrorCode]++
			}
		}
		made := produceRequest(8, "set", -1, records(t, 0))
		response, err := connection.call(made, 20*time.Second)
		if err != nil {
			t.Fatalf("produce after %.40q: %v", name, err)
		}
		if code := response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 && code != kerr.MessageTooLarge.Code && code != kerr.InvalidTimestamp.Code {
			t.Errorf("produce after %.40q: %v", name, kerr.ErrorForCode(code))
		}
	}
	for code := range counts {
		if code == kerr.UnknownServerError.Code {
			t.Errorf("%d answers of UNKNOWN_SERVER_ERROR", counts[code])
		}
	}
	t.Logf("answers by code: %v", counts)
}

// The client id may have any bytes and any length that its two bytes can say; negative ones are null.
func TestClientIdentifiers(t *testing.T) {
	broker := start(t, harness.Options{Mode: harness.Dev})
	watch(t, broker, 100*mib)
	for _, id := range []string{"", "\xff\xff", "a\x00b", strings.Repeat("c", 32767), "\n{\"level\":\"fatal\"}\n"} {
		frame := []byte{0, 3, 0, 1, 0, 0, 0, 9}
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(id)))
		frame = append(append(frame, id...), 0, 0, 0, 0)
		connection := dial(t, broker.Bootstrap())
		if _, err := connection.Write(sized(frame)); err != nil {
			t.Fatal(err)
		}
		if answer, err := connection.receive(10 * time.Second); err != nil || binary.BigEndian.Uint32(answer) != 9 {
			t.Errorf("client id of %d bytes: %x, %v", len(id), answer, err)
		}
	}
}
