package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Groups that commit.
const (
	eagerGroups  = 50    // commit again as soon as they were answered
	steadyGroups = 1000  // commit once a second
	storedGroups = 10000 // have committed once
)

const topicCommitted = "committed"

// committer is one group that commits the offset of one partition, over a connection of its own.
type committer struct {
	group string
	wire  *wire
	next  int64
}

// commit commits the next offset and waits for the answer.
func (c *committer) commit() error {
	c.next++
	return c.wire.commitOffset(c.group, topicCommitted, c.next)
}

func groupName(i int) string { return fmt.Sprintf("group-%d", i) }

// committers connects groups whose first commit has succeeded: a coordinator may have to be made or to load first.
func (l *lap) committers(ctx context.Context, count int) ([]*committer, error) {
	groups := make([]*committer, 0, count)
	for i := range count {
		c := &committer{group: groupName(i)}
		err := l.server.await(ctx, func(w *wire) error {
			if err := w.findCoordinator(c.group); err != nil {
				return err
			}
			return w.commitOffset(c.group, topicCommitted, 0)
		})
		if err != nil {
			return groups, fmt.Errorf("first commit of %s: %w", c.group, err)
		}
		if c.wire, err = dial(l.server.address); err != nil {
			return groups, err
		}
		groups = append(groups, c)
	}
	return groups, nil
}

// runCommits measures commits of groups that do nothing else, and of many groups that commit as consumers do.
func runCommits(ctx context.Context, l *lap) error {
	if err := l.server.createTopic(ctx, topicCommitted, 1); err != nil {
		return err
	}
	groups, err := l.committers(ctx, steadyGroups)
	defer func() {
		for _, c := range groups {
			c.wire.close()
		}
	}()
	if err != nil {
		return err
	}
	latencies, err := together(groups[:eagerGroups], func(_ int, c *committer) ([]time.Duration, error) { return c.eagerly(ctx, l.settings.CommitTime) })
	if err != nil {
		return err
	}
	l.note(commitRate, float64(len(latencies))/l.settings.CommitTime.Seconds())
	l.note(commitP99, milliseconds(percentile(latencies, 0.99)))
	latencies, err = together(groups, func(i int, c *committer) ([]time.Duration, error) { return c.steadily(ctx, i, l.settings.CommitTime) })
	if err != nil {
		return err
	}
	l.note(steadyP50, milliseconds(percentile(latencies, 0.50)))
	l.note(steadyP99, milliseconds(percentile(latencies, 0.99)))
	return nil
}

// together runs every group at once and collects their latencies.
func together(groups []*committer, run func(i int, c *committer) ([]time.Duration, error)) ([]time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failure error
	var running sync.WaitGroup
	for i, c := range groups {
		running.Go(func() {
			latencies, err := run(i, c)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, latencies...)
			if failure == nil && err != nil {
				failure = fmt.Errorf("%s: %w", c.group, err)
			}
		})
	}
	running.Wait()
	return all, failure
}

func (c *committer) timed() (time.Duration, error) {
	began := time.Now()
	err := c.commit()
	return time.Since(began), err
}

func (c *committer) eagerly(ctx context.Context, lasting time.Duration) (latencies []time.Duration, err error) {
	for end := time.Now().Add(lasting); time.Now().Before(end) && ctx.Err() == nil; {
		latency, err := c.timed()
		if err != nil {
			return latencies, err
		}
		latencies = append(latencies, latency)
	}
	return latencies, ctx.Err()
}

// steadily commits once a second, each group at its own moment of the second.
func (c *committer) steadily(ctx context.Context, i int, lasting time.Duration) (latencies []time.Duration, err error) {
	next := time.Now().Add(time.Duration(i) * time.Second / steadyGroups)
	for end := next.Add(lasting); next.Before(end); next = next.Add(time.Second) {
		if err := pause(ctx, time.Until(next)); err != nil {
			return latencies, err
		}
		latency, err := c.timed()
		if err != nil {
			return latencies, err
		}
		latencies = append(latencies, latency)
	}
	return latencies, nil
}

// findCoordinator is nil when the group has one.
func (w *wire) findCoordinator(group string) error {
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.Version = findCoordinatorVersion
	request.CoordinatorKey = group
	response, err := w.ask(request)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.(*kmsg.FindCoordinatorResponse).ErrorCode)
}

// commitOffset commits for partition 0, as a consumer without members of its group does.
func (w *wire) commitOffset(group, topic string, offset int64) error {
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Version = offsetCommitVersion
	request.Group = group
	row := kmsg.NewOffsetCommitRequestTopic()
	row.Topic = topic
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = offset
	row.Partitions = append(row.Partitions, partition)
	request.Topics = append(request.Topics, row)
	response, err := w.ask(request)
	if err != nil {
		return err
	}
	for _, topic := range response.(*kmsg.OffsetCommitResponse).Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
