package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// askedGroups is how many of the stored groups are asked for after the restart: enough that every part of the coordinator's log has some.
const askedGroups = 500

// replayConnections is over how many connections groups are filled and asked for.
const replayConnections = 10

// runReplay measures from kill -9 until the coordinator answers for groups that have committed before, with the time that the process takes to end and to start.
func runReplay(ctx context.Context, l *lap) error {
	s, err := l.fresh(ctx, "replay")
	if err != nil {
		return err
	}
	if err := s.createTopic(ctx, topicCommitted, 1); err != nil {
		return err
	}
	err = s.await(ctx, func(w *wire) error { return w.findCoordinator(groupName(0)) })
	if err != nil {
		return err
	}
	if err := spread(storedGroups, func(group string) error {
		return s.await(ctx, func(w *wire) error { return w.commitOffset(group, topicCommitted, storedOffset) })
	}); err != nil {
		return err
	}
	took, err := s.restart(ctx, func() error {
		return spread(askedGroups, func(group string) error {
			return s.await(ctx, func(w *wire) error { return w.committed(group, topicCommitted) })
		})
	})
	if err != nil {
		return err
	}
	l.note(groupReplay, took.Seconds())
	return s.kill(ctx)
}

// storedOffset is what each group has committed.
const storedOffset = 42

// spread does something for each of the first groups, a few at a time.
func spread(count int, do func(group string) error) error {
	failures := make([]error, replayConnections)
	var workers sync.WaitGroup
	for w := range replayConnections {
		workers.Go(func() {
			for i := w; i < count && failures[w] == nil; i += replayConnections {
				failures[w] = do(groupName(i))
			}
		})
	}
	workers.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// committed is nil when the group's offset is the one that it has committed.
func (w *wire) committed(group, topic string) error {
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Version = offsetFetchVersion
	request.Group = group
	row := kmsg.NewOffsetFetchRequestTopic()
	row.Topic = topic
	row.Partitions = []int32{0}
	request.Topics = append(request.Topics, row)
	response, err := w.ask(request)
	if err != nil {
		return err
	}
	answer := response.(*kmsg.OffsetFetchResponse)
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return err
	}
	for _, topic := range answer.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
			if partition.Offset != storedOffset {
				return fmt.Errorf("%s: offset %d, committed was %d", group, partition.Offset, storedOffset)
			}
		}
	}
	return nil
}
