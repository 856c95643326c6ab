package ownership

import (
	"fmt"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// place is where the files of a partition are, and what the engine is told of it. It never changes.
type place interface {
	open() (vfs.Dir, error)
	config() storage.Config
	volume() *storage.Volume // nil: the manager's
}

// topicPlace is a partition of a topic as the topic is at one time.
type topicPlace struct {
	options *Options
	topic   *catalog.Topic
	index   int32
}

func (m *Manager) placeOf(topic *catalog.Topic, index int32) place {
	return topicPlace{&m.options, topic, index}
}

func labelOf(topic *catalog.Topic, index int32) string {
	return fmt.Sprintf("%s-%d", topic.Name, index)
}

func (p topicPlace) open() (vfs.Dir, error) {
	of := topicdir.Topic{Name: p.topic.Name, ID: p.topic.ID, Partitions: p.topic.Partitions}
	return topicdir.OpenPartition(p.options.Volume, of, p.index)
}

func (p topicPlace) config() storage.Config {
	c := p.topic.Effective.Storage()
	if limit := p.options.MaxSegmentBytes; limit > 0 {
		c.SegmentBytes = min(c.SegmentBytes, limit)
	}
	return c
}

func (p topicPlace) volume() *storage.Volume { return p.options.Volume }
