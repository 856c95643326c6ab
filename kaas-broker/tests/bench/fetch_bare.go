package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// fetchBytes is what one bare request asks for.
const fetchBytes = 16 << 20

// runFetchBare reads what eight producers wrote, over one connection, partition by partition in turn, and throws it away.
func runFetchBare(_ context.Context, l *lap) error {
	before, err := cpuTime(l.server.number)
	if err != nil {
		return err
	}
	bytes, took, err := fetchAll(l.server, topicEight, eight)
	if err != nil {
		return err
	}
	l.note(fetchBare, megabytesPerSecond(bytes, took))
	return l.noteCPU(fetchCPU, before, bytes)
}

// fetchAll returns the bytes of all records of a topic, and the time it took to get them.
func fetchAll(s *server, topic string, partitions int) (bytes int64, took time.Duration, err error) {
	w, err := dial(s.address)
	if err != nil {
		return 0, 0, err
	}
	defer w.close()
	ends, err := w.endOffsets(topic, partitions)
	if err != nil {
		return 0, 0, err
	}
	next := make([]int64, partitions)
	began := time.Now()
	for !slices.Equal(next, ends) {
		for p := range next {
			if next[p] >= ends[p] {
				continue
			}
			read, offset, err := w.fetch(bareFetch(topic, int32(p), next[p], fetchBytes))
			if err != nil {
				return 0, 0, fmt.Errorf("fetch %s-%d at %d: %w", topic, p, next[p], err)
			}
			bytes, next[p] = bytes+read, offset
		}
	}
	return bytes, time.Since(began), nil
}
