package brokertest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kaas-rs/kaas/kaas-broker/brokertest"
)

func client(t *testing.T, b *brokertest.Broker, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.Bootstrap()...)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// committedOf reads so many records as a reader of committed ones.
func committedOf(t *testing.T, b *brokertest.Broker, topic string, count int) []string {
	t.Helper()
	reader := client(t, b, kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(100*time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var values []string
	for len(values) < count {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("read %q so far: %v", values, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

func TestTransactionsCommitAndAbort(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 3, nil)
	producer := client(t, b, kgo.TransactionalID("writer"), kgo.DefaultProduceTopic("events"))
	var want []string
	for n := range 20 {
		commit := kgo.TransactionEndTry(n%3 != 0)
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		var records []*kgo.Record
		for i := range 5 {
			value := fmt.Sprintf("%d-%d", n, i)
			records = append(records, kgo.StringRecord(value))
			if commit {
				want = append(want, value)
			}
		}
		if err := producer.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := producer.EndTransaction(t.Context(), commit); err != nil {
			t.Fatal(err)
		}
	}
	got := committedOf(t, b, "events", len(want))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// A group that reads, changes and writes in transactions turns each input into one output, whatever is aborted in between.
func TestTransactionsConsumeTransformProduce(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 2, nil)
	b.CreateTopic("results", 2, nil)
	const count = 200
	source := client(t, b, kgo.DefaultProduceTopic("events"))
	var inputs []*kgo.Record
	for i := range count {
		inputs = append(inputs, kgo.StringRecord(fmt.Sprintf("%03d", i)))
	}
	if err := source.ProduceSync(t.Context(), inputs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(b.Bootstrap()...), kgo.TransactionalID("changer"), kgo.ConsumerGroup("workers"),
		kgo.ConsumeTopics("events"), kgo.DefaultProduceTopic("results"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for done, round := 0, 0; done < count; round++ {
		fetches := session.PollRecords(ctx, 30)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d: %v", done, count, err)
		}
		if err := session.Begin(); err != nil {
			t.Fatal(err)
		}
		var results []*kgo.Record
		fetches.EachRecord(func(r *kgo.Record) { results = append(results, kgo.StringRecord("result "+string(r.Value))) })
		if err := session.ProduceSync(ctx, results...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		committed, err := session.End(ctx, kgo.TransactionEndTry(round%3 != 1))
		if err != nil {
			t.Fatal(err)
		}
		if committed {
			done += len(results)
		}
	}
	got := committedOf(t, b, "results", count)
	slices.Sort(got)
	for i, value := range got {
		if want := fmt.Sprintf("result %03d", i); value != want {
			t.Fatalf("result %d is %q, want %q", i, value, want)
		}
	}
}

// The second producer of a transactional id fences the first and aborts what it has begun.
func TestTransactionsFence(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 1, nil)
	begin := func(value string) *kgo.Client {
		producer := client(t, b, kgo.TransactionalID("writer"), kgo.DefaultProduceTopic("events"))
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		return producer
	}
	zombie, heir := begin("of the zombie"), begin("of the heir")
	err := zombie.EndTransaction(t.Context(), kgo.TryCommit)
	if !errors.Is(err, kerr.ProducerFenced) && !errors.Is(err, kerr.InvalidProducerEpoch) {
		t.Errorf("the zombie's commit: %v", err)
	}
	if err := heir.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	if got := committedOf(t, b, "events", 1); got[0] != "of the heir" {
		t.Errorf("read %q", got)
	}
}

// A topic that is deleted while a transaction has records there does not hold the transaction up.
func TestTransactionsOutliveTopics(t *testing.T) {
	b := brokertest.Start(t)
	b.CreateTopic("events", 1, nil)
	b.CreateTopic("doomed", 1, nil)
	producer := client(t, b, kgo.TransactionalID("writer"))
	for n := range 2 {
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		records := []*kgo.Record{{Topic: "events", Value: []byte(strings.Repeat("x", n+1))}}
		if n == 0 {
			records = append(records, &kgo.Record{Topic: "doomed", Value: []byte("x")})
		}
		if err := producer.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			request := kmsg.NewPtrDeleteTopicsRequest()
			request.TimeoutMillis = 10_000
			request.TopicNames, request.Topics = []string{"doomed"}, []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("doomed")}}
			if _, err := request.RequestWith(t.Context(), client(t, b)); err != nil {
				t.Fatal(err)
			}
		}
		if err := producer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
	if got := committedOf(t, b, "events", 2); !slices.Equal(got, []string{"x", "xx"}) {
		t.Errorf("read %q", got)
	}
}
