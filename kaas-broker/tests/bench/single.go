package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// runSingle measures from one record's Produce to its acknowledgment, with nothing else under way.
func runSingle(ctx context.Context, l *lap) error {
	const topic = "single"
	client, records, err := l.newTopic(ctx, topic)
	if err != nil {
		return err
	}
	defer client.Close()
	return l.besideDisk(singleP50, l.probeSmall, func() (float64, error) {
		latencies, err := oneByOne(ctx, client, records, l.settings.Singles)
		if err != nil {
			return 0, err
		}
		l.note(singleP99, milliseconds(percentile(latencies, 0.99)))
		return milliseconds(percentile(latencies, 0.50)), nil
	})
}

// oneByOne sends so many records, and a tenth before that do not count, each when the one before was acknowledged.
func oneByOne(ctx context.Context, client *kgo.Client, records *slab, count int) ([]time.Duration, error) {
	warm := count / 10
	latencies := make([]time.Duration, 0, count)
	for i := range warm + count {
		record := records.next()
		began := time.Now()
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			return nil, err
		}
		if i >= warm {
			latencies = append(latencies, time.Since(began))
		}
	}
	return latencies, nil
}
