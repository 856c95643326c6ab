package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Counts of partitions whose memory is measured.
const (
	fewPartitions  = 200
	manyPartitions = 2000
)

// partitionRest is how long a broker may tidy up before its memory is read.
const partitionRest = 2 * time.Second

// runPartitions measures what partitions add to the resident memory of a broker that has served a little already. Each holds one record.
func runPartitions(ctx context.Context, l *lap) error {
	s, err := l.fresh(ctx, "partitions")
	if err != nil {
		return err
	}
	if err := l.fillPartitions(ctx, s, "first", 1); err != nil {
		return err
	}
	before, err := memoryOf(s.number, residentNow)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		topic        string
		added, total int
		metric       metric
	}{
		{"few", fewPartitions, fewPartitions, partitionFew},
		{"many", manyPartitions - fewPartitions, manyPartitions, partitionMany},
	} {
		if err := l.fillPartitions(ctx, s, step.topic, step.added); err != nil {
			return err
		}
		now, err := memoryOf(s.number, residentNow)
		if err != nil {
			return err
		}
		l.note(step.metric, float64(now-before)/1024/float64(step.total))
	}
	return s.kill(ctx)
}

// fillPartitions makes a topic, puts one record into each partition, and rests.
func (l *lap) fillPartitions(ctx context.Context, s *server, topic string, partitions int) error {
	if err := s.createTopic(ctx, topic, partitions); err != nil {
		return err
	}
	client, err := kgo.NewClient(producerOptions(s.address, false, bulkLinger)...)
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, partitions)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32(i), Value: l.values[i%len(l.values)]}
	}
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("one record to each of %d partitions: %w", partitions, err)
	}
	return pause(ctx, partitionRest)
}
