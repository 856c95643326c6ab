package api

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A request may name a topic, a partition or a group more than once. What is done then is Kafka's choice and differs between APIs: every mention is refused,
// the first counts, or the last.

// errTopicTwice refuses every mention of a topic that admin requests name more than once.
var errTopicTwice = refuse(kerr.InvalidRequest, "the request names the topic more than once")

// repeated are the keys that a request names more than once.
func repeated[K comparable, E any](elements []E, key func(*E) K) map[K]bool {
	seen, twice := make(map[K]bool, len(elements)), map[K]bool{}
	for i := range elements {
		k := key(&elements[i])
		if seen[k] {
			twice[k] = true
		}
		seen[k] = true
	}
	return twice
}

// once leaves the first mention of each element, in a slice of its own.
func once[E comparable](elements []E) []E {
	seen := make(map[E]bool, len(elements))
	var each []E
	for _, element := range elements {
		if !seen[element] {
			seen[element] = true
			each = append(each, element)
		}
	}
	return each
}

// mentions knows, of a request that names partitions more than once, which mention of each counts: the last, as in Kafka.
type mentions map[partitionName]*kmsg.ProduceRequestTopicPartition

// lastMentions is nil for a request of one partition.
func lastMentions(request *kmsg.ProduceRequest, partitions int) mentions {
	if partitions < 2 {
		return nil
	}
	last := make(mentions, partitions)
	for t := range request.Topics {
		topic := &request.Topics[t]
		for p := range topic.Partitions {
			last[partitionName{topic.Topic, topic.Partitions[p].Partition}] = &topic.Partitions[p]
		}
	}
	return last
}

// repeated reports whether a later mention of the same partition counts instead.
func (m mentions) repeated(topic string, partition *kmsg.ProduceRequestTopicPartition) bool {
	return m != nil && m[partitionName{topic, partition.Partition}] != partition
}
