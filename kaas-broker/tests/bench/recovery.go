package main

import (
	"context"
	"errors"
)

var errNoRecord = errors.New("the last record is not served")

func runRecovery(ctx context.Context, l *lap) error {
	return l.recover(ctx, "recovery", l.settings.CrashBytes, recovery)
}

func runLargeRecovery(ctx context.Context, l *lap) error {
	return l.recover(ctx, "large-recovery", l.settings.LargeBytes, recoveryLarge)
}

// recover measures from kill -9 until the last record of one partition is served, with the time that the process takes to end and to start.
func (l *lap) recover(ctx context.Context, name string, bytes int64, m metric) error {
	s, err := l.fresh(ctx, name)
	if err != nil {
		return err
	}
	if err := s.createTopic(ctx, topicOne, 1); err != nil {
		return err
	}
	if _, err := (bulk{topic: topicOne, producers: 1, bytes: bytes}).produce(ctx, s.address, l.values); err != nil {
		return err
	}
	var ends []int64
	err = s.try(func(w *wire) (err error) {
		ends, err = w.endOffsets(topicOne, 1)
		return err
	})
	if err != nil {
		return err
	}
	took, err := s.restart(ctx, func() error {
		return s.await(ctx, func(w *wire) error { return w.serves(topicOne, ends[0]-1) })
	})
	if err != nil {
		return err
	}
	l.note(m, took.Seconds())
	return s.kill(ctx)
}

// serves is nil when a fetch at that offset of partition 0 returns it.
func (w *wire) serves(topic string, offset int64) error {
	bytes, next, err := w.fetch(bareFetch(topic, 0, offset, batchBytes))
	if err != nil {
		return err
	}
	if bytes == 0 || next <= offset {
		return errNoRecord
	}
	return nil
}
