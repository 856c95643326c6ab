package catalog

import (
	"maps"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

// Topic is one topic. It must not be changed once it has been published.
type Topic struct {
	// Name is the name on the wire.
	Name string
	// ID tells this topic from earlier and later ones of its name (KIP-516).
	ID uuid.UUID
	// Partitions is the number of partitions, numbered from 0.
	Partitions int32
	// Overrides are the configurations set on the topic itself, by Kafka's dotted names.
	Overrides map[string]string
	// Effective is what holds for the topic: its overrides over the broker's configuration.
	Effective topicconfig.Effective
	// Internal topics belong to the broker: Metadata marks them, and clients may not produce to them.
	Internal bool
}

// HasPartition says whether partition is one of the topic's.
func (t *Topic) HasPartition(partition int32) bool {
	return partition >= 0 && partition < t.Partitions
}

// Clone returns a copy that may be changed.
func (t *Topic) Clone() *Topic {
	clone := *t
	clone.Overrides = maps.Clone(t.Overrides)
	return &clone
}
