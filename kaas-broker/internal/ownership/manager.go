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
	// Slots are the coordinator's partitions, which are kept open too; nil: there are none.
	Slots *Slots
	// Entitled is asked in each takeover, see storage.TakeOptions. May be nil.
	Entitled func() error
	// Fenced is called when another process took a partition over, which is then left to it. It must not block. nil: the partition is taken back
	// after a second.
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

// Manager holds one entry for each partition in the catalog and for each slot.
type Manager struct {
	options Options
	ctx     context.Context // of the takeovers; ended by Shutdown
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	entries   map[key]*entry
	topics    map[uuid.UUID]*catalog.Topic
	departing map[uuid.UUID]chan struct{} // topics whose files are being closed; see depart
	queue     queue
	running   int
}

// New returns a manager that serves nothing before Run.
func New(o Options) *Manager {
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.TakeoverTimeout <= 0 {
		o.TakeoverTimeout = defaultTakeoverTimeout
	}
	m := &Manager{
		options: o, entries: make(map[key]*entry), topics: make(map[uuid.UUID]*catalog.Topic), departing: make(map[uuid.UUID]chan struct{}),
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	return m
}

// Run takes the slots, and follows the catalog until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	m.adoptSlots()
	changed := make(chan struct{}, 1)
	defer m.options.Catalog.Watch(changed)()
	for {
		m.follow()
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// follow makes the entries those of the catalog.
func (m *Manager) follow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	// Read under mu: an older snapshot would bring back a topic that Abandon has dropped meanwhile.
	s := m.options.Catalog.Snapshot()
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
			configureLocked(e, m.placeOf(topic, index))
			continue
		}
		m.entries[k] = newEntry(labelOf(topic, index), m.placeOf(topic, index))
		m.enqueueLocked(m.entries[k], false)
	}
}

// Partition returns an open partition without waiting. After its leadership has ended it can still be read below its watermark.
// A call for a partition that waits for its takeover moves it to the front.
//
// Errors: ErrTakingOver, ErrUnavailable (wrapping the cause), ErrUnknownPartition, and storage.ErrClosed after Shutdown.
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
		if err := wait(ctx, e, changed); err != nil {
			return nil, err
		}
	}
}

// wait returns when the entry has changed.
func wait(ctx context.Context, e *entry, changed <-chan struct{}) error {
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w: %w", e.label, ErrTakingOver, context.Cause(ctx))
	}
}

// entryLocked finds the entry. A topic that was published a moment ago may not have one yet: it is made here.
func (m *Manager) entryLocked(topic *catalog.Topic, index int32) (*entry, error) {
	if e := m.entries[key{topic.ID, index}]; e != nil {
		return e, nil
	}
	current, known := m.options.Catalog.Snapshot().ByID(topic.ID)
	switch {
	case m.closed:
		return nil, fmt.Errorf("%s: %w", labelOf(topic, index), storage.ErrClosed)
	case !known || !current.HasPartition(index):
		return nil, fmt.Errorf("%s: %w", labelOf(topic, index), ErrUnknownPartition)
	}
	m.adoptLocked(current)
	return m.entries[key{topic.ID, index}], nil
}

func (m *Manager) serveLocked(e *entry) (*storage.Partition, error) {
	if !e.led() {
		m.queue.urge(e)
	}
	switch {
	case e.partition != nil:
		return e.partition, nil // if its leadership has ended its own error tells, and reads go on
	case e.failure != nil:
		return nil, fmt.Errorf("%s: %w: %w", e.label, ErrUnavailable, e.failure)
	default:
		return nil, fmt.Errorf("%s: %w", e.label, ErrTakingOver)
	}
}

func configureLocked(e *entry, at place) {
	e.place = at
	if e.partition != nil {
		e.partition.SetConfig(at.config())
	}
}
