package ownership

import (
	"context"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
)

// Abandon closes a deleted topic's partitions without writing anything, and waits until their files are closed: on NFS an open file
// cannot be removed. Its signature is the metadata store's hook. The topic must have left the catalog.
func (m *Manager) Abandon(ctx context.Context, topic *catalog.Topic) error {
	m.mu.Lock()
	m.dropLocked(topic)
	departed := m.departing[topic.ID] // also when Run has seen the topic leave before
	m.mu.Unlock()
	if departed == nil {
		return nil
	}
	select {
	case <-departed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// dropLocked forgets a topic and begins to close what is open of it.
func (m *Manager) dropLocked(topic *catalog.Topic) {
	if known := m.topics[topic.ID]; known != nil {
		topic = known // which may have grown since
	}
	delete(m.topics, topic.ID)
	var closings []<-chan struct{}
	for index := range topic.Partitions {
		k := key{topic.ID, index}
		e := m.entries[k]
		if e == nil {
			continue
		}
		delete(m.entries, k)
		if e.taking != nil {
			closings = append(closings, e.taking.done)
		}
		if p := e.endLocked(ErrUnknownPartition); p != nil {
			p.Abandon()
			closings = append(closings, p.Closed())
		}
	}
	if len(closings) > 0 {
		departed := make(chan struct{})
		m.departing[topic.ID] = departed
		m.work.Go(func() { m.depart(topic.ID, closings, departed) })
	}
}

// depart tells when everything of a topic is closed. A file operation that hangs holds it up until the manager ends.
func (m *Manager) depart(id uuid.UUID, closings []<-chan struct{}, departed chan<- struct{}) {
	for _, closed := range closings {
		select {
		case <-closed:
		case <-m.ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.departing, id)
	close(departed)
}
