package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// consumerOptions are for a client that reads given partitions with checksums verified, as it does unless told otherwise.
func consumerOptions(address string, from map[string]map[int32]kgo.Offset) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(address),
		kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(from),
		kgo.FetchMaxBytes(fetchBytes),
		kgo.FetchMaxPartitionBytes(fetchBytes / eight),
	}
}

// runFetchClient reads what eight producers wrote with one consumer.
func runFetchClient(ctx context.Context, l *lap) error {
	from := map[int32]kgo.Offset{}
	var records int64
	err := l.server.try(func(w *wire) error {
		ends, err := w.endOffsets(topicEight, eight)
		for p, end := range ends {
			records += end
			from[int32(p)] = kgo.NewOffset().At(0)
		}
		return err
	})
	if err != nil {
		return err
	}
	began := time.Now()
	consumer, err := kgo.NewClient(consumerOptions(l.server.address, map[string]map[int32]kgo.Offset{topicEight: from})...)
	if err != nil {
		return err
	}
	defer consumer.Close()
	bytes, err := consume(ctx, consumer, records)
	if err != nil {
		return err
	}
	l.note(fetchClient, megabytesPerSecond(bytes, time.Since(began)))
	return nil
}

// consume polls until so many records have come, and returns the bytes of their values.
func consume(ctx context.Context, consumer *kgo.Client, records int64) (bytes int64, err error) {
	for records > 0 {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return 0, fmt.Errorf("consume: %w", err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			bytes += int64(len(record.Value))
			records--
		})
	}
	return bytes, nil
}
