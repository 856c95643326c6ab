package main

import (
	"context"
	"time"
)

// Topics that later works read again.
const (
	topicOne   = "one"
	topicEight = "eight"
)

// eight is how many producers and partitions the wide works have.
const eight = 8

// warmUp lets the broker, the client and the kernel reach their pace. Nothing is noted.
func warmUp(ctx context.Context, l *lap) error {
	if err := l.server.createTopic(ctx, "warm", eight); err != nil {
		return err
	}
	for _, idempotent := range []bool{false, true} {
		b := bulk{topic: "warm", producers: eight, bytes: l.settings.WarmBytes, idempotent: idempotent}
		if _, err := b.produce(ctx, l.server.address, l.values); err != nil {
			return err
		}
	}
	_, _, err := fetchAll(l.server, "warm", eight)
	return err
}

func runProduceOne(ctx context.Context, l *lap) error {
	return l.produce(ctx, bulk{topic: topicOne, producers: 1, bytes: l.settings.OneBytes}, produceOne)
}

// runProduceEight notes what the broker's CPU had to do, too.
func runProduceEight(ctx context.Context, l *lap) error {
	before, err := cpuTime(l.server.number)
	if err != nil {
		return err
	}
	b := bulk{topic: topicEight, producers: eight, bytes: l.settings.EightBytes}
	if err := l.produce(ctx, b, produceEight); err != nil {
		return err
	}
	return l.noteCPU(produceCPU, before, b.bytes)
}

func runProduceIdempotent(ctx context.Context, l *lap) error {
	return l.produce(ctx, bulk{topic: "idempotent", producers: eight, bytes: l.settings.EightBytes, idempotent: true}, produceIdem)
}

func (l *lap) produce(ctx context.Context, b bulk, m metric) error {
	if err := l.server.createTopic(ctx, b.topic, b.producers); err != nil {
		return err
	}
	return l.besideDisk(m, l.probeLarge, func() (float64, error) {
		took, err := b.produce(ctx, l.server.address, l.values)
		return megabytesPerSecond(b.bytes, took), err
	})
}

// noteCPU notes the seconds of CPU that the broker has used since, for each GB (10^9 bytes).
func (l *lap) noteCPU(m metric, before time.Duration, bytes int64) error {
	after, err := cpuTime(l.server.number)
	if err != nil {
		return err
	}
	l.note(m, perGigabyte(after-before, bytes))
	return nil
}
