package main

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// offeredRate is records per second, far below what any contestant can take.
const offeredRate = 2000

// offeredWarm is how long the load runs before anything counts.
const offeredWarm = time.Second

// runOffered measures from Produce to acknowledgment under a steady load.
func runOffered(ctx context.Context, l *lap) error {
	const topic = "offered"
	client, records, err := l.newTopic(ctx, topic)
	if err != nil {
		return err
	}
	defer client.Close()
	load := newLoad(l.settings.OfferedTime)
	latencies := make([]time.Duration, load.count)
	err = load.offer(ctx, client, func(int) *kgo.Record { return records.next() },
		func(i int, began time.Time) { latencies[i] = time.Since(began) })
	if err != nil {
		return err
	}
	l.note(offeredP50, milliseconds(percentile(latencies[load.warm:], 0.50)))
	l.note(offeredP99, milliseconds(percentile(latencies[load.warm:], 0.99)))
	return nil
}

// load is a number of records at offeredRate, of which the first do not count.
type load struct {
	count, warm int
}

func newLoad(lasting time.Duration) load {
	warm := int(offeredRate * offeredWarm.Seconds())
	return load{count: warm + int(offeredRate*lasting.Seconds()), warm: warm}
}

// offer produces on schedule whether or not earlier records were acknowledged, so that a slow answer does not thin the load out. Records that are late because this program was
// are sent at once. acknowledged is called for each record, with the time just before its Produce, by one goroutine at a time.
func (o load) offer(ctx context.Context, client *kgo.Client, record func(i int) *kgo.Record, acknowledged func(i int, began time.Time)) error {
	var once sync.Once
	var failure error
	var waiting sync.WaitGroup
	began := time.Now()
	for i := range o.count {
		if err := pause(ctx, time.Until(began.Add(time.Duration(i)*time.Second/offeredRate))); err != nil {
			return err
		}
		waiting.Add(1)
		next := record(i)
		sent := time.Now()
		client.Produce(ctx, next, func(_ *kgo.Record, err error) {
			defer waiting.Done()
			if err != nil {
				once.Do(func() { failure = err })
				return
			}
			acknowledged(i, sent)
		})
	}
	waiting.Wait()
	return failure
}
