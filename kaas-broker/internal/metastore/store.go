package metastore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const (
	manifestsName = "topics"
	statesName    = "topic_state"
	deletionsName = "topic_deletions"
)

// DefaultMaxPartitions is the largest number of partitions of one topic, unless Options say otherwise.
const DefaultMaxPartitions = 10_000

// Options are what a store works on and with. Cluster, Volume, Catalog and Resolve are required.
type Options struct {
	// Cluster is the opened cluster directory. When it is claimed, no change is answered after the claim was lost.
	Cluster *clusterdir.Dir
	// Volume holds the topics' directories.
	Volume *storage.Volume
	// Catalog is what the store publishes into. Nobody else may.
	Catalog *catalog.Catalog
	// Resolve computes what holds for a topic with these overrides (Kafka's dotted names). An error says that they are not valid, and
	// its text goes to the client; the result is used even then, for topics that have them already.
	Resolve func(overrides map[string]string) (topicconfig.Effective, error)
	// DefaultPartitions is for manifests that do not say how many (num.partitions); nil means 1.
	DefaultPartitions func() int32
	// Abandon is called after a topic has left the catalog and before its directories are touched: whoever has partitions of it open
	// closes them and persists nothing. nil if nobody has.
	Abandon func(ctx context.Context, topic *catalog.Topic) error
	// Forget is called after the directories of a deleted topic are gone, again and again until it succeeds, also after a restart: whoever keeps something
	// about topics forgets the one with this id. nil if nobody does.
	Forget func(ctx context.Context, topic string, id uuid.UUID) error
	// MaxPartitions of one topic; 0 means DefaultMaxPartitions.
	MaxPartitions int32
	// RoomFor says why the broker cannot lead so many partitions, over all topics, if it cannot. It is asked before any are made. nil if it always can.
	RoomFor func(partitions int) error
	// PollInterval is the time between two looks at the manifests; 0 means one second.
	PollInterval time.Duration
	Logger       zerolog.Logger
}

// Store is the local metadata store.
type Store struct {
	options   Options
	manifests vfs.Dir
	states    vfs.Dir
	deletions vfs.Dir
	problems  problems
	wake      chan struct{} // capacity 1: Run has something to remove

	// lock is held by the one change that is going on, file operations included. A channel, so that waiting for it ends with a context.
	lock chan struct{}
	// What follows is guarded by lock.
	records  map[string]*record      // by topic name
	folded   map[string]string       // topic name by catalog.Fold of it
	files    map[string]*file        // by manifest file name
	deleting map[uuid.UUID]*deletion // decided and unfinished
	// repairFrom is the topic whose materialized configuration is looked at next.
	repairFrom string
}

// record is a topic that has a state file.
type record struct {
	state
	overrides map[string]string // as written into the topic's directory
	recorded  bool              // state is in the state file
	configSet bool              // overrides are in the topic's directory
	deleting  bool              // a deletion was decided; the name is not free yet
}

// Open reads the store, completes what a crash interrupted, and publishes all topics. A topic that cannot be brought up is listed by
// Problems and tried again by Run; an error means that the store as a whole cannot be used, such as one of a future version.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.MaxPartitions <= 0 {
		o.MaxPartitions = DefaultMaxPartitions
	}
	if o.PollInterval <= 0 {
		o.PollInterval = time.Second
	}
	if o.DefaultPartitions == nil {
		o.DefaultPartitions = func() int32 { return 1 }
	}
	s := &Store{
		options: o, wake: make(chan struct{}, 1), lock: make(chan struct{}, 1),
		records: map[string]*record{}, folded: map[string]string{}, files: map[string]*file{}, deleting: map[uuid.UUID]*deletion{},
	}
	if err := s.open(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("open metadata store: %w", err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	for _, place := range []struct {
		dir  *vfs.Dir
		name string
	}{{&s.manifests, manifestsName}, {&s.states, statesName}, {&s.deletions, deletionsName}} {
		dir, err := makeDir(s.options.Cluster.Root(), place.name)
		if err != nil {
			return err
		}
		*place.dir = dir
		if err := removeLeftovers(dir); err != nil {
			return err
		}
	}
	if err := s.loadDeletions(); err != nil {
		return err
	}
	if err := s.loadStates(); err != nil {
		return err
	}
	return s.pass(ctx)
}

// makeDir opens a directory below parent, making it if need be.
func makeDir(parent vfs.Dir, name string) (vfs.Dir, error) {
	if err := parent.Mkdir(name); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make directory %s: %w", name, err)
	}
	if err := parent.Sync(); err != nil {
		return nil, fmt.Errorf("sync directory %s: %w", name, err)
	}
	dir, err := parent.OpenDir(name)
	if err != nil {
		return nil, fmt.Errorf("open directory %s: %w", name, err)
	}
	return dir, nil
}

// Close releases the directories. Run and all other calls must have returned.
func (s *Store) Close() error {
	var all []error
	for _, dir := range []vfs.Dir{s.manifests, s.states, s.deletions} {
		if dir != nil {
			all = append(all, dir.Close())
		}
	}
	return errors.Join(all...)
}

// turn is acquire for a change that was asked for: the wait for it ends with ctx, and what has begun is finished, because half a change would surprise more
// than a late one.
func (s *Store) turn(ctx context.Context) (change context.Context, release func(), err error) {
	if release, err = s.acquire(ctx); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	return context.WithoutCancel(ctx), release, nil
}

// acquire waits for the right to change something.
func (s *Store) acquire(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.lock <- struct{}{}:
		return func() { <-s.lock }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// confirm asks whether this process still runs the cluster. Without a claim (in memory, or in a test) it does.
func (s *Store) confirm() error {
	if err := s.options.Cluster.CheckClaim(); err != nil && !errors.Is(err, clusterdir.ErrNotClaimed) {
		return err
	}
	return nil
}

// remember and forget keep the indexes of records together.
func (s *Store) remember(r *record) {
	s.records[r.Name] = r
	s.folded[catalog.Fold(r.Name)] = r.Name
}

func (s *Store) forget(name string) {
	delete(s.records, name)
	delete(s.folded, catalog.Fold(name))
}

// publish brings the catalog up to date with the named records.
func (s *Store) publish(names ...string) {
	var put []*catalog.Topic
	var removed []string
	for _, name := range names {
		if r := s.records[name]; r != nil && r.served() {
			put = append(put, s.topic(r))
		} else {
			removed = append(removed, name)
		}
	}
	if len(put) > 0 || len(removed) > 0 {
		s.options.Catalog.Update(put, removed)
	}
}

// topic is what the catalog shows of a record.
func (s *Store) topic(r *record) *catalog.Topic {
	// Overrides that were valid once stay in force as far as they still are.
	effective, _ := s.options.Resolve(r.overrides)
	return &catalog.Topic{
		Name: r.Name, ID: r.ID, Partitions: r.Partitions,
		Overrides: maps.Clone(r.overrides), Effective: effective,
		Internal: catalog.IsInternal(r.Name),
	}
}
