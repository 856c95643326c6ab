package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// transactionRecords is how many records each transaction has.
const transactionRecords = 100

// runTransactions measures from the first record of a transaction to the answer that it is committed, one transaction after the other.
func runTransactions(ctx context.Context, l *lap) error {
	const topic = "transactions"
	if err := l.server.createTopic(ctx, topic, 1); err != nil {
		return err
	}
	records := &slab{topic: topic, values: l.values}
	client, err := kgo.NewClient(append(producerOptions(l.server.address, true, 0), kgo.TransactionalID("bench"))...)
	if err != nil {
		return err
	}
	defer client.Close()
	warm := l.settings.Transactions / 10
	latencies := make([]time.Duration, 0, l.settings.Transactions)
	var counted time.Time
	for i := range warm + l.settings.Transactions {
		if i == warm {
			counted = time.Now()
		}
		began := time.Now()
		if err := transact(ctx, client, records); err != nil {
			return err
		}
		if i >= warm {
			latencies = append(latencies, time.Since(began))
		}
	}
	l.note(transactionRate, float64(len(latencies))/time.Since(counted).Seconds())
	l.note(transactionP50, milliseconds(percentile(latencies, 0.50)))
	l.note(transactionP99, milliseconds(percentile(latencies, 0.99)))
	return nil
}

func transact(ctx context.Context, client *kgo.Client, records *slab) error {
	if err := client.BeginTransaction(); err != nil {
		return err
	}
	if err := fill(ctx, client, records, transactionRecords); err != nil {
		return err
	}
	return client.EndTransaction(ctx, kgo.TryCommit)
}
