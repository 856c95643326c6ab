package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// idlePartitions is how many partitions that nobody uses a broker must carry.
const idlePartitions = 10_000

// idleTopics is over how many topics they are spread.
const idleTopics = 10

// idleRest is long enough for a partition to count as idle and to close its files.
const idleRest = 15 * time.Second

// idlePatience is well above the target: a broker that cannot lead them all never will.
const idlePatience = time.Minute

// idleLimit is how many files the broker may open: not two for each partition and anything beside them.
const idleLimit = 20_000

// runIdle measures a start with many partitions after a kill -9, and what they hold once nothing happens.
func runIdle(ctx context.Context, l *lap) (err error) {
	by := l.contestant.launcher
	if k, is := by.(kaasLauncher); is {
		k.files = idleLimit
		by = k
	}
	s, err := l.freshBy(ctx, by, "idle")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.kill(ctx)) }()
	s.optional = true
	s.patience = idlePatience
	memory, files, err := l.look(ctx, s)
	if err != nil {
		return err
	}
	l.note(idleFilesInitial, float64(files))
	for i := range idleTopics {
		if err := s.createTopic(ctx, idleTopic(i), idlePartitions/idleTopics); err != nil {
			return err
		}
	}
	took, err := s.restart(ctx, func() error {
		for i := range idleTopics {
			if err := s.await(ctx, func(w *wire) error { return w.led(idleTopic(i), idlePartitions/idleTopics) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.note(idleStart, took.Seconds())
	after, files, err := l.look(ctx, s)
	if err != nil {
		return err
	}
	l.note(idleMemory, float64(after-memory)/1000/idlePartitions)
	l.note(idleFiles, float64(files))
	return nil
}

func idleTopic(i int) string { return fmt.Sprintf("idle-%d", i) }

// look waits until the broker rests and returns its resident memory in bytes and its open files.
func (l *lap) look(ctx context.Context, s *server) (memory int64, files int, err error) {
	if err := pause(ctx, idleRest); err != nil {
		return 0, 0, err
	}
	if memory, err = memoryOf(s.number, residentNow); err != nil {
		return 0, 0, err
	}
	files, err = openFiles(s.number)
	return memory, files, err
}
