package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

var errDisk = errors.New("disk is broken")

// bench is a manager over files in memory whose operations the test can fail and hold up.
type bench struct {
	t       *testing.T
	fs      vfs.FS
	engine  *storage.Engine
	volume  *storage.Volume
	catalog *catalog.Catalog
	*ownership.Manager

	mu   sync.Mutex
	hook vfs.Hook
}

// bubble runs a test with a manager that follows its catalog, in virtual time.
func bubble(t *testing.T, o ownership.Options, test func(b *bench)) {
	t.Helper()
	bubbleBefore(t, o, func(*bench) {}, test)
}

// bubbleBefore is bubble with something to do before the manager runs.
func bubbleBefore(t *testing.T, o ownership.Options, before, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, catalog: catalog.New()}
		b.fs = vfs.NewFault(vfs.NewMem(64<<20), b.call)
		var err error
		b.volume, err = storage.OpenVolume(b.fs, storage.VolumeOptions{ClusterID: "cluster", ID: "default"})
		must(t, err)
		b.engine = b.newEngine()
		o.Engine, o.Volume, o.Catalog = b.engine, b.volume, b.catalog
		b.Manager = ownership.New(o)
		before(b)
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- b.Run(ctx) }()
		test(b)
		b.onFile(nil)
		cancel()
		must(t, <-ran)
		must(t, errors.Join(b.Shutdown(context.Background()), b.engine.Close()))
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) newEngine() *storage.Engine {
	b.t.Helper()
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
	must(b.t, err)
	return engine
}

func (b *bench) call(op vfs.Op) error {
	b.mu.Lock()
	hook := b.hook
	b.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(op)
}

// onFile sets what happens at each file operation from now on; nil for nothing.
func (b *bench) onFile(hook vfs.Hook) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = hook
}

// claims reports whether an operation is the beginning of a takeover, and of which partition.
func claims(op vfs.Op) (partition string, yes bool) {
	if op.After || op.Kind != vfs.OpMkdir || !strings.HasPrefix(op.Name, "leader.") {
		return "", false
	}
	return op.Path[strings.LastIndexByte(op.Path, '/')+1:], true
}

// effective is the configuration of a topic with these overrides.
func (b *bench) effective(overrides map[string]string) topicconfig.Effective {
	b.t.Helper()
	e, err := topicconfig.Resolve(config.Values{}, overrides)
	must(b.t, err)
	return e
}

// publish makes a topic's directories and puts it into the catalog.
func (b *bench) publish(name string, partitions int32) *catalog.Topic {
	b.t.Helper()
	topic := &catalog.Topic{Name: name, ID: uuid.New(), Partitions: partitions, Effective: b.effective(nil)}
	must(b.t, topicdir.Create(context.Background(), b.volume, dirs(topic), 0, 0))
	b.catalog.Update([]*catalog.Topic{topic}, nil)
	return topic
}

// change puts another version of a topic into the catalog.
func (b *bench) change(topic *catalog.Topic, change func(*catalog.Topic)) *catalog.Topic {
	next := topic.Clone()
	change(next)
	b.catalog.Update([]*catalog.Topic{next}, nil)
	return next
}

func dirs(topic *catalog.Topic) topicdir.Topic {
	return topicdir.Topic{Name: topic.Name, ID: topic.ID, Partitions: topic.Partitions}
}

// led waits until a partition is open and returns it.
func (b *bench) led(topic *catalog.Topic, index int32) *storage.Partition {
	b.t.Helper()
	p, err := b.Await(context.Background(), topic, index)
	must(b.t, err)
	return p
}

// now is what Partition says after everything that can happen without time has happened.
func (b *bench) now(topic *catalog.Topic, index int32) (*storage.Partition, error) {
	synctest.Wait()
	return b.Partition(topic, index)
}

func (b *bench) expect(topic *catalog.Topic, index int32, want error) {
	b.t.Helper()
	if _, err := b.now(topic, index); !errors.Is(err, want) {
		b.t.Errorf("%s-%d: %v, want %v", topic.Name, index, err, want)
	}
}

// write appends one record and returns what its durability came to.
func write(t *testing.T, p *storage.Partition) error {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Add(1, []byte("key"), []byte("value"))
	data, err := builder.Build()
	must(t, err)
	ticket, err := p.Append(data, storage.AppendOptions{})
	if err != nil {
		return err
	}
	return ticket.WaitDurable(context.Background())
}

// steal takes a partition over as another process would.
func (b *bench) steal(topic *catalog.Topic, index int32) *storage.Partition {
	b.t.Helper()
	dir, err := topicdir.OpenPartition(b.volume, dirs(topic), index)
	must(b.t, err)
	p, err := b.engine.Take(context.Background(), dir, storage.TakeOptions{Label: "thief", Volume: b.volume, Config: storage.DefaultConfig()})
	must(b.t, err)
	return p
}

// names lists a partition's directory.
func (b *bench) names(topic *catalog.Topic, index int32) (names []string) {
	b.t.Helper()
	dir, err := topicdir.OpenPartition(b.volume, dirs(topic), index)
	must(b.t, err)
	defer dir.Close()
	entries, err := dir.List()
	must(b.t, err)
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	return names
}

// endByError ends the leadership of partition 0 by a failed sync.
func (b *bench) endByError(topic *catalog.Topic) error {
	b.mu.Lock()
	hook := b.hook
	b.mu.Unlock()
	var once sync.Once
	b.onFile(func(op vfs.Op) (err error) {
		if op.Kind == vfs.OpSync && strings.HasSuffix(op.Name, ".log") {
			once.Do(func() { err = errDisk })
			if err != nil {
				return err
			}
		}
		return hook(op)
	})
	p, err := b.Partition(topic, 0)
	if err != nil {
		return err
	}
	if err := write(b.t, p); !errors.Is(err, errDisk) {
		return fmt.Errorf("write with a failing sync: %w", err)
	}
	return nil
}
