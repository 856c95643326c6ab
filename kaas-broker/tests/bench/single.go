package main

import (
	"context"
	"time"
)

// runSingle measures from one record's Produce to its acknowledgment, with nothing else under way.
func runSingle(ctx context.Context, l *lap) error {
	const topic = "single"
	if err := l.server.createTopic(ctx, topic, 1); err != nil {
		return err
	}
	records := &slab{topic: topic, values: l.values}
	client, err := newProducer(ctx, producerOptions(l.server.address, false, 0), records)
	if err != nil {
		return err
	}
	defer client.Close()
	warm := l.settings.Singles / 10
	latencies := make([]time.Duration, 0, l.settings.Singles)
	for i := range warm + l.settings.Singles {
		record := records.next()
		began := time.Now()
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			return err
		}
		if i >= warm {
			latencies = append(latencies, time.Since(began))
		}
	}
	l.note(singleP50, milliseconds(percentile(latencies, 0.50)))
	l.note(singleP99, milliseconds(percentile(latencies, 0.99)))
	return nil
}
