package clients

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/tests/harness"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// transactionTool is what happens between two runs of kafka-transactions.sh.
type transactionTool struct {
	t      *testing.T
	broker *harness.Broker
	client *kgo.Client
	open   *kgo.Client
}

func (g *transactionTool) steps() map[string]func() {
	return map[string]func(){
		"begin": func() {
			createTopic(g.t, g.broker.Bootstrap(), "first", 2)
			createTopic(g.t, g.broker.Bootstrap(), "second", 1)
			g.transact("committed", kgo.TryCommit)
			g.transact("aborted", kgo.TryAbort)
			g.open = g.begin("open")
		},
		"end": func() {
			if err := g.open.EndTransaction(g.t.Context(), kgo.TryCommit); err != nil {
				g.t.Fatal(err)
			}
			g.completed("open")
		},
		"hang": func() { g.hang("second") },
	}
}

// begin writes one record to each partition in a transaction.
func (g *transactionTool) begin(id string) *kgo.Client {
	producer := newFranz(g.t, g.broker.Bootstrap(), kgo.TransactionalID(id), kgo.TransactionTimeout(time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := producer.BeginTransaction(); err != nil {
		g.t.Fatal(err)
	}
	for partition := range int32(2) {
		record := &kgo.Record{Topic: "first", Partition: partition, Value: []byte(id)}
		if err := producer.ProduceSync(g.t.Context(), record).FirstErr(); err != nil {
			g.t.Fatal(err)
		}
	}
	return producer
}

func (g *transactionTool) transact(id string, end kgo.TransactionEndTry) {
	if err := g.begin(id).EndTransaction(g.t.Context(), end); err != nil {
		g.t.Fatal(err)
	}
	g.completed(id)
}

// completed waits until a transaction has its markers.
func (g *transactionTool) completed(id string) {
	request := kmsg.NewPtrDescribeTransactionsRequest()
	request.TransactionalIDs = []string{id}
	for range 400 {
		response, err := request.RequestWith(g.t.Context(), g.client)
		if err != nil {
			g.t.Fatal(err)
		}
		if strings.HasPrefix(response.TransactionStates[0].State, "Complete") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.t.Fatalf("transaction %s does not complete", id)
}

// hang begins a transaction that no coordinator knows, as a bug of a client or broker once did. The broker does not verify in this test.
func (g *transactionTool) hang(topic string) {
	response, err := kmsg.NewPtrInitProducerIDRequest().RequestWith(g.t.Context(), g.client)
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	builder := batch.NewBuilder()
	builder.Transactional, builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence = true, response.ProducerID, 0, 0
	builder.Add(time.Now().Add(-time.Hour).UnixMilli(), nil, []byte("hangs"))
	records, err := builder.Build()
	if err != nil {
		g.t.Fatal(err)
	}
	request := kmsg.NewPtrProduceRequest()
	request.Version, request.TransactionID, request.Acks, request.TimeoutMillis = 9, kmsg.StringPtr("nobody"), -1, 10_000
	request.Topics = []kmsg.ProduceRequestTopic{{Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: records}}}}
	produced, err := request.RequestWith(g.t.Context(), g.client)
	if err == nil {
		err = kerr.ErrorForCode(produced.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

// Apache Kafka's tool does all that it can do with transactions, and prints what it prints of Apache Kafka. Producer ids, times and epochs of coordinators
// differ from run to run.
func TestTransactionsTool(t *testing.T) {
	broker := harness.Start(t, harness.Options{Overrides: map[string]string{"transaction.partition.verification.enable": "false"}, Decodes: []string{"timestamp-lookup"}})
	g := &transactionTool{t: t, broker: broker, client: newFranz(t, broker.Bootstrap())}
	newToolbox(t, broker, "org.apache.kafka.tools.TransactionsCommand",
		masked(`^(\S+) 0 \d+ ([A-Z]\w+)$`, "$1 0 NUMBER $2"),
		masked(`^0 (\S+) \d+ (\d+) (\w+) (\d+) \d+ \d+`, "0 $1 NUMBER $2 $3 $4 NUMBER NUMBER"),
		masked(`^\d+ (\d+) -1 (\d+) \d+ (None|\d+)$`, "NUMBER $1 -1 $2 NUMBER $3"),
		masked(`^\d+ (\d+) \d+ (\d+) \d+ (None|\d+)$`, "NUMBER $1 NUMBER $2 NUMBER $3"),
		masked(`^(\S+ \d+) \d+ (\d+ -1 \d+) \d+ \d+$`, "$1 NUMBER $2 NUMBER NUMBER"),
	).follow("testdata/transactions.txt", g.steps())
}
