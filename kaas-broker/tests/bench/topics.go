package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var errNotLed = errors.New("not every partition has a leader yet")

// createTopic returns when every partition has a leader that answers: Apache Kafka tells of leaders a moment before they are.
func (s *server) createTopic(ctx context.Context, name string, partitions int) error {
	if err := s.try(func(w *wire) error { return w.createTopic(name, partitions) }); err != nil {
		return fmt.Errorf("create topic %s with %d partitions: %w", name, partitions, err)
	}
	return s.await(ctx, func(w *wire) error {
		if err := w.led(name, partitions); err != nil {
			return err
		}
		_, err := w.endOffsets(name, partitions)
		return err
	})
}

func (w *wire) createTopic(name string, partitions int) error {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Version = createTopicsVersion
	request.TimeoutMillis = int32(wireTimeout.Milliseconds())
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic = name
	topic.NumPartitions = int32(partitions)
	topic.ReplicationFactor = 1
	request.Topics = append(request.Topics, topic)
	response, err := w.ask(request)
	if err != nil {
		return err
	}
	for _, topic := range response.(*kmsg.CreateTopicsResponse).Topics {
		if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
			return err
		}
	}
	return nil
}

// led is nil when all partitions of a topic have a leader.
func (w *wire) led(name string, partitions int) error {
	metadata, err := w.metadata([]string{name})
	if err != nil {
		return err
	}
	led := 0
	for _, topic := range metadata.Topics {
		for _, partition := range topic.Partitions {
			if partition.ErrorCode == 0 && partition.Leader >= 0 {
				led++
			}
		}
	}
	if led != partitions {
		return fmt.Errorf("%s: %d of %d: %w", name, led, partitions, errNotLed)
	}
	return nil
}
