package clients

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// groupClient is a client that can be a member of a group: it reads so many records, commits what it has read, and leaves.
type groupClient struct {
	name    string
	consume func(t *testing.T, address, topic, group string, count int) []record
}

func groupClients() []groupClient {
	return []groupClient{
		{"franz-go", franzInGroup},
		{"kcat", kcatInGroup},
		{"sarama", saramaInGroup},
		{"confluent-kafka", func(t *testing.T, address, topic, group string, count int) []record {
			return confluentScript().read(t, "group", address, topic, count, "group="+group)
		}},
		{"kafkajs", func(t *testing.T, address, topic, group string, count int) []record {
			return kafkaJSScript().read(t, "group", address, topic, count, "group="+group)
		}},
		{"java-3.7.2", consoleInGroup("3.7.2")},
		{"java-4.3.1", consoleInGroup("4.3.1")},
	}
}

func franzInGroup(t *testing.T, address, topic, group string, count int) []record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var records []record
	for len(records) < count {
		fetches := client.PollRecords(ctx, count-len(records))
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d records: %v", len(records), count, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { records = append(records, record{Key: string(r.Key), Value: string(r.Value)}) })
	}
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	return records
}

// kcatInGroup reads with kcat's own format, since -J names no key of a group.
func kcatInGroup(t *testing.T, address, topic, group string, count int) []record {
	t.Helper()
	output := kcat(t, address, "-G", group, "-c", strconv.Itoa(count), "-X", "auto.offset.reset=earliest", "-f", "%k\t%s\n", "-q", topic).Run(t)
	return fromTabSeparated(t, output)
}

func consoleInGroup(version string) func(t *testing.T, address, topic, group string, count int) []record {
	return func(t *testing.T, address, topic, group string, count int) []record {
		output := shellTool(t, version, "kafka-console-consumer", "--bootstrap-server", address, "--topic", topic, "--group", group,
			"--from-beginning", "--max-messages", strconv.Itoa(count), "--timeout-ms", "30000",
			option(version, "--property", "--formatter-property"), "print.key=true").Run(t)
		return fromTabSeparated(t, output)
	}
}

// saramaMember reads so many records and then ends its session.
type saramaMember struct {
	count   int
	records []record
	done    context.CancelFunc
}

func (*saramaMember) Setup(sarama.ConsumerGroupSession) error { return nil }

func (*saramaMember) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		m.records = append(m.records, record{Key: string(message.Key), Value: string(message.Value)})
		session.MarkMessage(message, "")
		if len(m.records) == m.count {
			session.Commit()
			m.done()
			return nil
		}
	}
	return nil
}

func saramaInGroup(t *testing.T, address, topic, group string, count int) []record {
	t.Helper()
	config := saramaConfig(sarama.V2_8_0_0)
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	consumer, err := sarama.NewConsumerGroup([]string{address}, group, config)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	member := &saramaMember{count: count, done: cancel}
	for ctx.Err() == nil {
		if err := consumer.Consume(ctx, []string{topic}, member); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	return member.records
}

// atOnce lets a group begin with its first member.
var atOnce = map[string]string{"group.initial.rebalance.delay.ms": "0"}

// Each client reads the first half in a group, comes back, and reads the second half: after its commit, and over kill -9 of the broker.
func TestGroupReadsOnWhereItCommitted(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: atOnce, Decodes: []string{"coordinator"}})
	for _, tested := range groupClients() {
		t.Run(tested.name, func(t *testing.T) {
			topic, group := uniqueName(t), uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered("franz", 40)
			franzProduce(t, broker.Bootstrap(), topic, records)
			compare(t, tested.consume(t, broker.Bootstrap(), topic, group, 20), records[:20])
			compare(t, tested.consume(t, broker.Bootstrap(), topic, group, 10), records[20:30])
			broker.Kill(t)
			broker.Resume(t)
			compare(t, tested.consume(t, broker.Bootstrap(), topic, group, 10), records[30:])
		})
	}
}
