package ownership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
)

// Why a partition is not served. ErrTakingOver passes by itself within moments; ErrUnavailable wraps what stands in the way.
var (
	ErrTakingOver  = errors.New("partition is being taken over")
	ErrUnavailable = errors.New("partition cannot be taken over")
	// ErrUnknownPartition: the topic has no such partition, or has been deleted.
	ErrUnknownPartition = errors.New("unknown partition")
)

// Options are what a manager works with. Engine, Volume and Catalog are required.
type Options struct {
	Engine  *storage.Engine
	Volume  *storage.Volume
	Catalog *catalog.Catalog
	// MaxSegmentBytes caps the topics' segment.bytes, so that memory can be given back in small pieces; 0 means no cap.
	MaxSegmentBytes int64
	// Parallel is how many takeovers run at a time; 0 means 64.
	Parallel int
	// TakeoverTimeout ends one takeover that makes no progress; 0 means two minutes.
	TakeoverTimeout time.Duration
	// Fenced is called when another process took a partition over. nil: the partition is simply taken back later.
	Fenced func(label string, err error)
	Logger zerolog.Logger
}

const (
	defaultParallel        = 64
	defaultTakeoverTimeout = 2 * time.Minute
	firstRetry             = time.Second
	lastRetry              = 30 * time.Second
)

type key struct {
	topic     uuid.UUID
	partition int32
}

// Manager holds one entry for each partition in the catalog.
type Manager struct {
	options Options
	ctx     context.Context // of the takeovers; ended by Shutdown
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	entries map[key]*entry
	topics  map[uuid.UUID]*catalog.Topic
	queue   queue
	running int
}

// New returns a manager that serves nothing before Run.
func New(o Options) *Manager {
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.TakeoverTimeout <= 0 {
		o.TakeoverTimeout = defaultTakeoverTimeout
	}
	m := &Manager{options: o, entries: make(map[key]*entry), topics: make(map[uuid.UUID]*catalog.Topic)}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// Run follows the catalog until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	changed := make(chan struct{}, 1)
	defer m.options.Catalog.Watch(changed)()
	for {
		m.follow(m.options.Catalog.Snapshot())
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// follow makes the entries those of the snapshot.
func (m *Manager) follow(s *catalog.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	for id, topic := range m.topics {
		if _, still := s.ByID(id); !still {
			m.dropLocked(topic)
		}
	}
	for _, topic := range s.Topics() {
		if m.topics[topic.ID] != topic {
			m.adoptLocked(topic)
		}
	}
}

// adoptLocked makes entries for partitions that are new and gives the others the topic's present configuration.
func (m *Manager) adoptLocked(topic *catalog.Topic) {
	m.topics[topic.ID] = topic
	for index := range topic.Partitions {
		k := key{topic.ID, index}
		if e := m.entries[k]; e != nil {
			m.configureLocked(e, topic)
			continue
		}
		m.entries[k] = newEntry(topic, index)
		m.enqueueLocked(m.entries[k], false)
	}
}

func (m *Manager) dropLocked(topic *catalog.Topic) []*storage.Partition {
	delete(m.topics, topic.ID)
	var open []*storage.Partition
	for index := range topic.Partitions {
		k := key{topic.ID, index}
		e := m.entries[k]
		if e == nil {
			continue
		}
		delete(m.entries, k)
		if p := e.endLocked(ErrUnknownPartition); p != nil {
			p.Abandon()
			open = append(open, p)
		}
	}
	return open
}

// Abandon closes a deleted topic's partitions without writing anything, and waits until their files are closed: on NFS an open file
// cannot be removed. Its signature is the metadata store's hook.
func (m *Manager) Abandon(ctx context.Context, topic *catalog.Topic) error {
	m.mu.Lock()
	open := m.dropLocked(topic)
	m.mu.Unlock()
	for _, p := range open {
		select {
		case <-p.Closed():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Partition returns an open partition without waiting. After its leadership has ended it can still be read below its watermark.
// A call for a partition that waits for its takeover moves it to the front.
//
// Errors: ErrTakingOver, ErrUnavailable (wrapping the cause), ErrUnknownPartition.
func (m *Manager) Partition(topic *catalog.Topic, index int32) (*storage.Partition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, err := m.entryLocked(topic, index)
	if err != nil {
		return nil, err
	}
	return m.serveLocked(e)
}

// Await is Partition, but waits while the partition is being taken over for the first time. It returns after the first failure.
func (m *Manager) Await(ctx context.Context, topic *catalog.Topic, index int32) (*storage.Partition, error) {
	for {
		m.mu.Lock()
		e, err := m.entryLocked(topic, index)
		if err != nil {
			m.mu.Unlock()
			return nil, err
		}
		p, err := m.serveLocked(e)
		changed := e.changed
		m.mu.Unlock()
		if !errors.Is(err, ErrTakingOver) {
			return p, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: %w", e.label(), ErrTakingOver, context.Cause(ctx))
		}
	}
}

// entryLocked finds the entry. A topic that was published a moment ago may not have one yet: it is made here.
func (m *Manager) entryLocked(topic *catalog.Topic, index int32) (*entry, error) {
	if e := m.entries[key{topic.ID, index}]; e != nil {
		return e, nil
	}
	current, known := m.options.Catalog.Snapshot().ByID(topic.ID)
	if !known || !current.HasPartition(index) || m.closed {
		return nil, fmt.Errorf("%s-%d: %w", topic.Name, index, ErrUnknownPartition)
	}
	m.adoptLocked(current)
	return m.entries[key{topic.ID, index}], nil
}

func (m *Manager) serveLocked(e *entry) (*storage.Partition, error) {
	switch {
	case e.partition != nil && e.failure == nil:
		return e.partition, nil
	case e.failure != nil && e.partition != nil:
		return e.partition, nil // its own error tells, and reads go on
	case e.failure != nil:
		return nil, fmt.Errorf("%s: %w: %w", e.label(), ErrUnavailable, e.failure)
	}
	m.queue.urge(e)
	return nil, fmt.Errorf("%s: %w", e.label(), ErrTakingOver)
}

// Shutdown hands every partition over, so that the next owner has nothing to scan. The end of ctx leaves the rest abandoned.
func (m *Manager) Shutdown(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	entries := m.entries
	m.entries = make(map[key]*entry)
	m.mu.Unlock()
	m.stop()
	m.work.Wait()
	slots := make(chan struct{}, m.options.Parallel)
	var handovers sync.WaitGroup
	errs := make([]error, 0)
	var mu sync.Mutex
	for _, e := range entries {
		m.mu.Lock()
		p := e.endLocked(storage.ErrClosed)
		m.mu.Unlock()
		if p == nil {
			continue
		}
		slots <- struct{}{}
		handovers.Go(func() {
			defer func() { <-slots }()
			if err := p.Handover(ctx); err != nil && p.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	handovers.Wait()
	return errors.Join(errs...)
}

func (m *Manager) take(ctx context.Context, e *entry, topic *catalog.Topic) (*storage.Partition, error) {
	dir, err := topicdir.OpenPartition(m.options.Volume, topicdir.Topic{Name: topic.Name, ID: topic.ID, Partitions: topic.Partitions}, e.index)
	if err != nil {
		return nil, err
	}
	return m.options.Engine.Take(ctx, dir, storage.TakeOptions{
		Label:  e.label(),
		Volume: m.options.Volume,
		Config: m.config(topic),
		Ended:  func(err error) { m.ended(e, err) },
	})
}

// config is what the engine is told of a topic.
func (m *Manager) config(topic *catalog.Topic) storage.Config {
	c := topic.Effective.Storage()
	if limit := m.options.MaxSegmentBytes; limit > 0 {
		c.SegmentBytes = min(c.SegmentBytes, limit)
	}
	return c
}

func (m *Manager) configureLocked(e *entry, topic *catalog.Topic) {
	e.topic = topic
	if e.partition != nil {
		e.partition.SetConfig(m.config(topic))
	}
}
