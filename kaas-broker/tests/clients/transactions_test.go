package clients

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
)

// committedReader reads what is committed in the only partition of a topic.
type committedReader struct {
	name string
	read func(t *testing.T, address, topic string, count int) []record
}

func committedReaders() []committedReader {
	console := func(version string) func(t *testing.T, address, topic string, count int) []record {
		return func(t *testing.T, address, topic string, count int) []record {
			output := shellTool(t, version, "kafka-console-consumer", "--bootstrap-server", address, "--topic", topic, "--isolation-level", "read_committed",
				"--from-beginning", "--max-messages", strconv.Itoa(count), "--timeout-ms", "30000",
				option(version, "--property", "--formatter-property"), "print.key=true").Run(t)
			return fromTabSeparated(t, output)
		}
	}
	return []committedReader{
		{"franz-go", func(t *testing.T, address, topic string, count int) []record {
			return franzCommitted(t, address, topic, count)
		}},
		{"sarama", saramaCommitted},
		{"kcat", func(t *testing.T, address, topic string, count int) []record {
			output := kcat(t, address, "-C", "-t", topic, "-p", "0", "-o", "beginning", "-c", strconv.Itoa(count), "-e",
				"-X", "isolation.level=read_committed", "-f", "%k\t%s\n", "-q").Run(t)
			return fromTabSeparated(t, output)
		}},
		{"java-3.7.2", console("3.7.2")},
		{"java-4.3.1", console("4.3.1")},
	}
}

// franzCommitted reads so many committed records of all partitions.
func franzCommitted(t *testing.T, address, topic string, count int) []record {
	t.Helper()
	reader := newFranz(t, address, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200*time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var records []record
	for len(records) < count {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d records: %v", len(records), count, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { records = append(records, record{Key: string(r.Key), Value: string(r.Value)}) })
	}
	return records
}

func saramaCommitted(t *testing.T, address, topic string, count int) []record {
	t.Helper()
	config := saramaConfig(sarama.V2_8_0_0)
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	consumer, err := sarama.NewConsumer([]string{address}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Close()
	var records []record
	for patience := time.After(30 * time.Second); len(records) < count; {
		select {
		case message := <-partition.Messages():
			records = append(records, record{Key: string(message.Key), Value: string(message.Value)})
		case <-patience:
			t.Fatalf("%d of %d records", len(records), count)
		}
	}
	return records
}

// Every client reads what is committed, and of two transactions that take turns in one partition only the one that was committed.
func TestCommittedRecordsForEachClient(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 1)
	one := newFranz(t, broker.Bootstrap(), kgo.TransactionalID(topic+"-one"), kgo.DefaultProduceTopic(topic))
	two := newFranz(t, broker.Bootstrap(), kgo.TransactionalID(topic+"-two"), kgo.DefaultProduceTopic(topic))
	var want []record
	for n := range 30 {
		ends := map[*kgo.Client]kgo.TransactionEndTry{one: n%2 == 0, two: n%3 == 0}
		for _, producer := range []*kgo.Client{one, two} {
			if err := producer.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 4 {
			producer := one
			if i%2 == 1 {
				producer = two
			}
			r := record{Key: strconv.Itoa(n), Value: strconv.Itoa(i)}
			if err := producer.ProduceSync(t.Context(), &kgo.Record{Key: []byte(r.Key), Value: []byte(r.Value)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if ends[producer] == kgo.TryCommit {
				want = append(want, r)
			}
		}
		for _, producer := range []*kgo.Client{one, two} {
			if err := producer.EndTransaction(t.Context(), ends[producer]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, reader := range committedReaders() {
		t.Run(reader.name, func(t *testing.T) { compare(t, reader.read(t, broker.Bootstrap(), topic, len(want)), want) })
	}
}

// The transactional producers of other clients: what they commit is there once.
func TestTransactionalProducers(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	const count = 2000
	for name, produce := range map[string]func(t *testing.T, topic string){
		"java-3.7.2": func(t *testing.T, topic string) { perfTransactions(t, "3.7.2", broker.Bootstrap(), topic, count) },
		"java-4.3.1": func(t *testing.T, topic string) { perfTransactions(t, "4.3.1", broker.Bootstrap(), topic, count) },
		"kcat": func(t *testing.T, topic string) {
			command := kcat(t, broker.Bootstrap(), "-P", "-t", topic, "-X", "transactional.id="+topic)
			command.Input = strings.Repeat("x\n", count)
			command.Run(t)
		},
		"sarama": func(t *testing.T, topic string) { saramaTransactions(t, broker.Bootstrap(), topic, count) },
	} {
		t.Run(name, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 3)
			produce(t, topic)
			if got := franzCommitted(t, broker.Bootstrap(), topic, count); len(got) != count {
				t.Errorf("%d records, want %d", len(got), count)
			}
		})
	}
}

// Other clients abort and commit, and commit offsets with it.
func TestTransactionsOfScripts(t *testing.T) {
	broker := harness.Start(t, harness.Options{})
	for _, s := range []script{confluentScript(), kafkaJSScript()} {
		t.Run(s.name, func(t *testing.T) {
			topic := uniqueName(t)
			createTopic(t, broker.Bootstrap(), topic, 1)
			records := numbered(s.name, 60)
			s.write(t, "transact", broker.Bootstrap(), topic, records, "group="+topic)
			compare(t, franzCommitted(t, broker.Bootstrap(), topic, len(records)), records)
			if offset := committedOffset(t, broker.Bootstrap(), topic, topic); offset != int64(len(records)) {
				t.Errorf("offset %d is committed, not %d", offset, len(records))
			}
		})
	}
}

// committedOffset is the stable offset of a group in the only partition of a topic.
func committedOffset(t *testing.T, address, group, topic string) int64 {
	t.Helper()
	request := kmsg.NewPtrOffsetFetchRequest()
	request.RequireStable = true
	wanted := kmsg.NewOffsetFetchRequestGroup()
	wanted.Group = group
	wanted.Topics = []kmsg.OffsetFetchRequestGroupTopic{{Topic: topic, Partitions: []int32{0}}}
	request.Groups = append(request.Groups, wanted)
	request.Group, request.Topics = group, []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: []int32{0}}}
	var offset int64
	eventually(t, 30*time.Second, func() error {
		response, err := request.RequestWith(t.Context(), newFranz(t, address))
		if err != nil {
			return err
		}
		found := response.Groups[0].Topics[0].Partitions[0]
		offset = found.Offset
		return kerr.ErrorForCode(found.ErrorCode)
	})
	return offset
}

// perfTransactions has Apache Kafka's performance tool write in transactions of a few milliseconds.
func perfTransactions(t *testing.T, version, address, topic string, count int) {
	t.Helper()
	shellTool(t, version, "kafka-producer-perf-test", "--topic", topic, "--num-records", strconv.Itoa(count), "--record-size", "100", "--throughput", "4000",
		"--transactional-id", topic, "--transaction-duration-ms", "50", "--producer-props", "bootstrap.servers="+address).Run(t)
}

func saramaTransactions(t *testing.T, address, topic string, count int) {
	t.Helper()
	config := saramaConfig(sarama.V2_8_0_0)
	config.Producer.Partitioner = sarama.NewRoundRobinPartitioner
	config.Producer.Idempotent, config.Producer.Transaction.ID, config.Net.MaxOpenRequests = true, topic, 1
	producer, err := sarama.NewSyncProducer([]string{address}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	for sent := 0; sent < count; sent += 100 {
		messages := make([]*sarama.ProducerMessage, 100)
		for i := range messages {
			messages[i] = &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("x")}
		}
		if err := errors.Join(producer.BeginTxn(), producer.SendMessages(messages), producer.CommitTxn()); err != nil {
			t.Fatal(err)
		}
	}
}

// A broker that dies again and again neither loses a committed transaction nor shows a part of one that is not.
func TestTransactionsOutliveKills(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: map[string]string{"log.segment.bytes": "100000"}})
	topic := uniqueName(t)
	createTopic(t, broker.Bootstrap(), topic, 2)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	outcomes := make(chan map[int]string, 1)
	var ended atomic.Int64
	go func() { outcomes <- transactUntil(running, t, broker.Bootstrap(), topic, &ended) }()
	for kill := range harness.Rounds(15, 200) {
		before := ended.Load()
		eventually(t, time.Minute, func() error {
			if ended.Load() < before+5 {
				return fmt.Errorf("%d transactions since kill %d", ended.Load()-before, kill)
			}
			return nil
		})
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		broker.Kill(t)
		broker.Resume(t)
	}
	stop()
	judgeTransactions(t, broker.Bootstrap(), topic, <-outcomes)
}

// inEach is how many records a transaction of this test has.
const inEach = 6

// transactUntil writes numbered transactions until the context ends and returns what became of each: "committed", "aborted", or "unknown". A producer that
// cannot go on is replaced by the next.
func transactUntil(ctx context.Context, t *testing.T, address, topic string, ended *atomic.Int64) map[int]string {
	outcomes := map[int]string{}
	for number := 0; ctx.Err() == nil; {
		producer, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic),
			kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.RecordDeliveryTimeout(30*time.Second), kgo.RetryTimeout(30*time.Second))
		if err != nil {
			t.Error(err)
			return outcomes
		}
		for goes := true; goes && ctx.Err() == nil; number++ {
			outcomes[number], goes = transact(t, producer, number)
			ended.Add(1)
		}
		producer.Close()
	}
	return outcomes
}

func transact(t *testing.T, producer *kgo.Client, number int) (outcome string, goes bool) {
	if err := producer.BeginTransaction(); err != nil {
		return "aborted", false
	}
	records := make([]*kgo.Record, inEach)
	for i := range records {
		records[i] = kgo.StringRecord(fmt.Sprintf("%d/%d", number, i))
	}
	ctx := context.Background() // the last transaction is ended, too
	sent := producer.ProduceSync(ctx, records...).FirstErr()
	commit := kgo.TransactionEndTry(sent == nil && number%5 != 4)
	err := producer.EndTransaction(ctx, commit)
	switch {
	case err == nil && commit == kgo.TryCommit:
		return "committed", true
	case err == nil || commit == kgo.TryAbort:
		return "aborted", err == nil
	default:
		t.Logf("commit of transaction %d: %v", number, err)
		return "unknown", false
	}
}

func judgeTransactions(t *testing.T, address, topic string, outcomes map[int]string) {
	t.Helper()
	last := newFranz(t, address, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := last.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	for partition := range int32(2) {
		if err := last.ProduceSync(t.Context(), &kgo.Record{Partition: partition, Value: []byte("end")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := last.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	seen := map[int][]string{}
	for _, value := range committedUntilEnd(t, address, topic, 2) {
		text, _, _ := strings.Cut(value, "/")
		number, _ := strconv.Atoi(text)
		seen[number] = append(seen[number], value)
	}
	count := map[string]int{}
	for number, outcome := range outcomes {
		slices.Sort(seen[number])
		whole := len(seen[number]) == inEach && len(slices.Compact(slices.Clone(seen[number]))) == inEach
		if count[outcome]++; outcome == "committed" && !whole || outcome == "aborted" && len(seen[number]) > 0 || len(seen[number]) > 0 && !whole {
			t.Errorf("transaction %d is %s, %v is there", number, outcome, seen[number])
		}
	}
	t.Logf("%v", count)
	if count["committed"] == 0 {
		t.Error("nothing was committed")
	}
}

// committedUntilEnd reads what is committed up to a record "end" in each partition.
func committedUntilEnd(t *testing.T, address, topic string, partitions int) []string {
	t.Helper()
	reader := newFranz(t, address, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(200*time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var values []string
	for ends := 0; ends < partitions; {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d records: %v", len(values), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if string(r.Value) == "end" {
				ends++
				return
			}
			values = append(values, string(r.Value))
		})
	}
	return values
}
