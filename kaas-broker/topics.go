package broker

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
)

// metadata describes the store of topics: what it works on, and who is asked and told when they change.
func (b *Broker) metadata() metastore.Options {
	return metastore.Options{
		Cluster: b.stores.cluster,
		Volume:  b.stores.volume,
		Catalog: b.catalog,
		Resolve: func(overrides map[string]string) (topicconfig.Effective, error) {
			return topicconfig.Resolve(b.config.Values, overrides)
		},
		DefaultPartitions: func() int32 { return b.config.Topics.Partitions },
		RoomFor:           b.roomFor,
		Abandon:           b.partitions.Abandon,
		Forget:            b.forgetTopic,
		Logger:            b.log,
	}
}

// CreateTopic makes a topic, as a client's CreateTopics would, and waits until its partitions are served: Run must be under way. config holds the
// topic's overrides under Kafka's names and may be nil.
func (b *Broker) CreateTopic(ctx context.Context, name string, partitions int32, config map[string]string) error {
	topic, err := b.topics.CreateTopic(ctx, metastore.NewTopic{Name: name, Partitions: partitions, Config: config})
	if err != nil {
		return err
	}
	for index := range topic.Partitions {
		if _, err := b.partitions.Await(ctx, topic, index); err != nil {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	return nil
}
