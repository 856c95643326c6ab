package brokertest_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestClientSurvivesARestart(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, map[string]string{"retention.ms": "-1"})
	client := newClient(t, broker, kgo.DefaultProduceTopic("orders"))
	address, cluster := broker.Addr(), broker.ClusterID()
	produce(t, client, "orders", "before")
	broker.Restart()
	produce(t, client, "orders", "after")
	broker.Stop()
	pending := make(chan error, 1)
	client.Produce(within(t), kgo.StringRecord("meanwhile"), func(_ *kgo.Record, err error) { pending <- err })
	broker.Start()
	if err := <-pending; err != nil {
		t.Fatalf("record that was sent while the broker was stopped: %v", err)
	}
	if got, want := consume(t, broker, "orders", 3), []string{"before", "after", "meanwhile"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if broker.Addr() != address || broker.ClusterID() != cluster {
		t.Errorf("after restarts it is %s of %s, was %s of %s", broker.Addr(), broker.ClusterID(), address, cluster)
	}
}

func TestSeveralBrokersAtOnce(t *testing.T) {
	first, second := brokertest.Start(t), brokertest.Start(t)
	if first.Addr() == second.Addr() || first.ClusterID() == second.ClusterID() {
		t.Fatalf("%s of %s and %s of %s", first.Addr(), first.ClusterID(), second.Addr(), second.ClusterID())
	}
	first.CreateTopic("orders", 1, nil)
	second.CreateTopic("orders", 1, nil)
	produce(t, newClient(t, first), "orders", "one")
	if end := latest(t, newClient(t, second), "orders"); end != 0 {
		t.Errorf("the other broker has %d records", end)
	}
}

func TestConfigReachesTheBroker(t *testing.T) {
	broker := brokertest.Start(t, brokertest.Config("auto.create.topics.enable", "false"), brokertest.Config("message.max.bytes", "1000"))
	client := newClient(t, broker, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(0), kgo.ProducerBatchCompression(kgo.NoCompression()))
	err := client.ProduceSync(within(t), &kgo.Record{Topic: "nobody-made-it", Value: []byte("x")}).FirstErr()
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("topic that does not exist: %v", err)
	}
	broker.CreateTopic("orders", 1, nil)
	err = client.ProduceSync(within(t), &kgo.Record{Topic: "orders", Value: []byte(strings.Repeat("x", 2000))}).FirstErr()
	if !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("large record: %v", err)
	}
}

func TestNothingIsDecodedOnTheWay(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker, kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	produce(t, client, "orders", strings.Repeat("x", 1000))
	consume(t, broker, "orders", 1)
	if counts := broker.Tripwires(); len(counts) > 0 {
		t.Errorf("counted %v", counts)
	}
	broker.CreateTopic("latest", 1, map[string]string{"cleanup.policy": "compact"})
	if err := client.ProduceSync(within(t), &kgo.Record{Topic: "latest", Key: []byte("k"), Value: []byte("v")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if counts := broker.Tripwires(); len(counts) != 1 {
		t.Errorf("after looking for keys: counted %v", counts)
	}
}

func TestFileHookFillsTheDisk(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	client := newClient(t, broker, kgo.DefaultProduceTopic("orders"))
	produce(t, client, "orders", "before")
	broker.HookFiles(func(op vfs.Op) error {
		if op.Kind == vfs.OpWriteVec && !op.After {
			return syscall.ENOSPC
		}
		return nil
	})
	if code := produceOnce(t, client, "orders"); code != kerr.KafkaStorageError.Code {
		t.Errorf("Produce answered %v", kerr.ErrorForCode(code))
	}
	if got := consume(t, broker, "orders", 1); got[0] != "before" {
		t.Errorf("read %q", got)
	}
	broker.HookFiles(nil)
	produce(t, client, "orders", "after")
	if got := consume(t, broker, "orders", 2); got[1] != "after" {
		t.Errorf("read %q", got)
	}
}

// produceOnce sends one batch without trying again and returns the answer's error code.
func produceOnce(t *testing.T, client *kgo.Client, topic string) int16 {
	t.Helper()
	response, err := client.SeedBrokers()[0].Request(within(t), produceRequest(t, topic, "once"))
	if err != nil {
		t.Fatal(err)
	}
	return response.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode
}

// produceRequest holds one batch of one record, written by hand.
func produceRequest(t *testing.T, topic, value string) *kmsg.ProduceRequest {
	partition := kmsg.NewProduceRequestTopicPartition()
	builder := batch.NewBuilder()
	builder.Add(time.Now().UnixMilli(), nil, []byte(value))
	records, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	partition.Records = records
	row := kmsg.NewProduceRequestTopic()
	row.Topic, row.Partitions = topic, []kmsg.ProduceRequestTopicPartition{partition}
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis, request.Topics = -1, 10_000, []kmsg.ProduceRequestTopic{row}
	return request
}

// What DescribeConfigs says about segments is what holds in memory.
func TestSegmentSizeIsTold(t *testing.T) {
	broker := brokertest.Start(t)
	broker.CreateTopic("orders", 1, nil)
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kmsg.ConfigResourceTypeTopic, "orders", []string{"segment.bytes"}
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = []kmsg.DescribeConfigsRequestResource{resource}
	response, err := newClient(t, broker).SeedBrokers()[0].Request(within(t), request)
	if err != nil {
		t.Fatal(err)
	}
	row := response.(*kmsg.DescribeConfigsResponse).Resources[0]
	if row.ErrorCode != 0 || len(row.Configs) != 1 || *row.Configs[0].Value != "16777216" {
		t.Errorf("%v: %+v", kerr.ErrorForCode(row.ErrorCode), row.Configs)
	}
}
