package clients

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
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

// consumerGroups runs kafka-consumer-groups.sh of one version and returns the words of each line that it prints.
func consumerGroups(t *testing.T, version, address string, arguments ...string) [][]string {
	t.Helper()
	output := shellTool(t, version, "kafka-consumer-groups", append([]string{"--bootstrap-server", address}, arguments...)...).Run(t)
	var lines [][]string
	for line := range strings.Lines(output) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines
}

func expectLine(t *testing.T, lines [][]string, want ...string) {
	t.Helper()
	if !slices.ContainsFunc(lines, func(line []string) bool { return slices.Equal(line, want) }) {
		t.Errorf("%q is not among\n%q", want, lines)
	}
}

// The words are those that Apache Kafka 3.7.2 makes its own tool print.
func TestConsumerGroupsTool(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: atOnce, Decodes: []string{"coordinator", "timestamp-lookup"}})
	address, topic, group := broker.Bootstrap(), uniqueName(t), "tool"
	createTopic(t, address, topic, 2)
	records := numbered("franz", 10)
	franzProduce(t, address, topic, records)
	compare(t, franzInGroup(t, address, topic, group, 4), records[:4])
	tool := func(arguments ...string) [][]string { return consumerGroups(t, "3.7.2", address, arguments...) }
	of := []string{"--group", group}

	expectLine(t, tool("--list"), group)
	expectLine(t, tool("--list", "--state"), group, "Empty")
	state := tool(append(of, "--describe", "--state")...)
	expectLine(t, state, group, address, "(0)", "Empty", "0")
	described := tool(append(of, "--describe")...)
	expectLine(t, described, "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
	expectLine(t, described, group, topic, "0", "4", "10", "6", "-", "-", "-")

	member := newFranz(t, address, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID("watcher"), kgo.Balancers(kgo.RangeBalancer()))
	member.PollRecords(t.Context(), 1)
	id, _ := member.GroupMetadata()
	expectLine(t, tool(append(of, "--describe", "--members")...), group, id, "/127.0.0.1", "watcher", "2")
	expectLine(t, tool(append(of, "--describe", "--state")...), group, address, "(0)", "range", "Stable", "1")
	expectLine(t, tool(append(of, "--describe")...), group, topic, "0", "4", "10", "6", id, "/127.0.0.1", "watcher")
	busy := shellTool(t, "3.7.2", "kafka-consumer-groups", "--bootstrap-server", address, "--delete", "--group", group).Try(t)
	if said := busy.Output + busy.Errors; !strings.Contains(said, "GroupNotEmptyException") {
		t.Errorf("a group with members is deleted: %s", said)
	}
	member.Close()

	reset := append(of, "--reset-offsets", "--topic", topic+":0", "--execute")
	for method, want := range map[string]string{
		"--to-earliest": "0", "--to-latest": "10", "--to-offset 7": "7", "--to-datetime 2020-01-01T00:00:00.000": "0", "--by-duration PT1H": "0",
	} {
		expectLine(t, tool(append(reset, strings.Fields(method)...)...), group, topic, "0", want)
	}
	tool(append(reset, "--to-offset", "7")...)
	expectLine(t, tool(append(reset, "--shift-by", "-3")...), group, topic, "0", "4")
	expectLine(t, tool(append(of, "--delete-offsets", "--topic", topic+":0")...), topic, "0", "Successful")
	expectLine(t, tool(append(of, "--reset-offsets", "--topic", topic, "--to-latest", "--execute")...), group, topic, "0", "10")
	expectLine(t, tool(append(of, "--delete")...), strings.Fields("Deletion of requested consumer groups ('"+group+"') was successful.")...)
	if lines := tool("--list"); len(lines) != 0 {
		t.Errorf("after the deletion: %q", lines)
	}
}
