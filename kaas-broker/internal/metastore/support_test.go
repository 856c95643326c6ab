package metastore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-broker/config"
	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-broker/internal/topicconfig"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

const clusterPath = "__cluster"

// process is one process's view of a data directory.
type process struct {
	*metastore.Store
	catalog *catalog.Catalog
	cluster *clusterdir.Dir
	volume  *storage.Volume
	fs      vfs.FS
}

func resolve(overrides map[string]string) (topicconfig.Effective, error) {
	return topicconfig.Resolve(config.Values{}, overrides)
}

// tryStart opens a store over fs as a process does that has just started.
func tryStart(ctx context.Context, fs vfs.FS, adjust ...func(*metastore.Options)) (*process, error) {
	p := &process{catalog: catalog.New(), fs: fs}
	var err error
	if p.cluster, err = clusterdir.Open(ctx, fs, clusterdir.Options{Path: clusterPath}); err != nil {
		return nil, err
	}
	if _, err = p.cluster.Claim(ctx); err != nil {
		return nil, err
	}
	p.volume, err = storage.OpenVolume(fs, storage.VolumeOptions{ClusterID: p.cluster.ClusterID(), ID: "default"})
	if err != nil {
		return nil, err
	}
	o := metastore.Options{Cluster: p.cluster, Volume: p.volume, Catalog: p.catalog, Resolve: resolve}
	for _, a := range adjust {
		a(&o)
	}
	p.Store, err = metastore.Open(ctx, o)
	return p, err
}

func start(t *testing.T, fs vfs.FS, adjust ...func(*metastore.Options)) *process {
	t.Helper()
	p, err := tryStart(t.Context(), fs, adjust...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.cluster.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *process) create(t *testing.T, name string, partitions int32, config map[string]string) *catalog.Topic {
	t.Helper()
	topic, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: name, Partitions: partitions, Config: config})
	if err != nil {
		t.Fatal(err)
	}
	return topic
}

func (p *process) reload(t *testing.T) {
	t.Helper()
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// topic is what the catalog shows.
func (p *process) topic(t *testing.T, name string) *catalog.Topic {
	t.Helper()
	topic, ok := p.catalog.Snapshot().ByName(name)
	if !ok {
		t.Fatalf("topic %s is not in the catalog; problems: %v", name, p.Problems())
	}
	return topic
}

func (p *process) missing(t *testing.T, name string) {
	t.Helper()
	if topic, ok := p.catalog.Snapshot().ByName(name); ok {
		t.Fatalf("topic %s is in the catalog: %+v", name, topic)
	}
}

// lead takes over a partition, which only works for one that is complete, and returns the leader epoch.
func (p *process) lead(t *testing.T, topic *catalog.Topic, partition int32) storage.Epoch {
	t.Helper()
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	dir, err := topicdir.OpenPartition(p.volume, dirs(topic), partition)
	if err != nil {
		t.Fatal(err)
	}
	led, err := engine.Take(t.Context(), dir, storage.TakeOptions{Volume: p.volume, Config: storage.DefaultConfig()})
	if err != nil {
		t.Fatal(err)
	}
	defer led.Abandon()
	return led.Epoch()
}

func dirs(topic *catalog.Topic) topicdir.Topic {
	return topicdir.Topic{Name: topic.Name, ID: topic.ID, Partitions: topic.Partitions}
}

// problem fails unless there is a problem with the manifest whose reason has the text in it.
func (p *process) problem(t *testing.T, manifest, text string) {
	t.Helper()
	for _, problem := range p.Problems() {
		if problem.Manifest == manifest && strings.Contains(problem.Reason, text) {
			return
		}
	}
	t.Fatalf("no problem with %q says %q: %v", manifest, text, p.Problems())
}

func openAt(t *testing.T, fs vfs.FS, path string) vfs.Dir {
	t.Helper()
	dir, err := fs.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// put writes a manifest as a person would.
func put(t *testing.T, fs vfs.FS, name, content string) {
	t.Helper()
	if err := vfs.WriteFileAtomic(openAt(t, fs, clusterPath+"/topics"), name, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, fs vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(openAt(t, fs, clusterPath+"/topics"), name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func drop(t *testing.T, fs vfs.FS, name string) {
	t.Helper()
	if err := openAt(t, fs, clusterPath+"/topics").Remove(name); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, fs vfs.FS, path string) []string {
	t.Helper()
	entries, err := openAt(t, fs, path).List()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name)
	}
	return all
}

func manifestOf(name, spec string) string {
	return "apiVersion: kaas.rs/v1alpha1\nkind: KafkaTopic\nmetadata:\n  name: " + name + "\nspec:\n" + spec
}

// errCrash is what every operation of a dead process gives.
var errCrash = errors.New("the process is dead")

// mortal is a file system whose process can be made to die.
type mortal struct {
	vfs.FS
	left int // changes until death; negative = immortal
}

func newMortal(fs vfs.FS) *mortal {
	m := &mortal{left: -1}
	m.FS = vfs.NewFault(fs, func(op vfs.Op) error {
		if op.After || m.left < 0 {
			return nil
		}
		if op.Kind.Mutating() && m.left > 0 {
			m.left--
		}
		if m.left == 0 {
			return errCrash
		}
		return nil
	})
	return m
}

// dieAt lets the nth change from now on, and all that comes after it, fail.
func (m *mortal) dieAt(n int) { m.left = n }
