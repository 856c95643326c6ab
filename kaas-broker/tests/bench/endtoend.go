package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// runEndToEnd measures from Produce until a consumer's poll returns the record, under the same load as runOffered.
func runEndToEnd(ctx context.Context, l *lap) error {
	const topic = "end-to-end"
	client, _, err := l.newTopic(ctx, topic)
	if err != nil {
		return err
	}
	defer client.Close()
	consumer, err := kgo.NewClient(consumerOptions(l.server.address, map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(1)}})...)
	if err != nil {
		return err
	}
	defer consumer.Close()
	load, epoch := newLoad(l.settings.OfferedTime), time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrived := make(chan arrival, 1)
	go func() { arrived <- measureArrivals(ctx, consumer, load.count, epoch) }()
	err = load.offer(ctx, client, func(int) *kgo.Record { return stamped(topic, epoch, l.values[0]) }, func(int, time.Time) {})
	if err != nil {
		cancel()
		<-arrived
		return err
	}
	a := <-arrived
	if a.err != nil {
		return a.err
	}
	l.note(endToEndP50, milliseconds(percentile(a.latencies[load.warm:], 0.50)))
	l.note(endToEndP99, milliseconds(percentile(a.latencies[load.warm:], 0.99)))
	return nil
}

type arrival struct {
	latencies []time.Duration // in offset order
	err       error
}

// stamped is a record whose value begins with the time since the epoch.
func stamped(topic string, epoch time.Time, value []byte) *kgo.Record {
	value = append([]byte(nil), value...)
	binary.BigEndian.PutUint64(value, uint64(time.Since(epoch)))
	return &kgo.Record{Topic: topic, Value: value}
}

// measureArrivals polls until so many records have come.
func measureArrivals(ctx context.Context, consumer *kgo.Client, count int, epoch time.Time) arrival {
	latencies := make([]time.Duration, 0, count)
	for len(latencies) < count {
		fetches := consumer.PollFetches(ctx)
		now := time.Since(epoch)
		if err := fetches.Err0(); err != nil {
			return arrival{err: fmt.Errorf("consume: %w", err)}
		}
		fetches.EachRecord(func(record *kgo.Record) {
			latencies = append(latencies, now-time.Duration(binary.BigEndian.Uint64(record.Value)))
		})
	}
	return arrival{latencies: latencies}
}
