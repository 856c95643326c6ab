package metastore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestCreatedTopicIsThereAndStays(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	config := map[string]string{"retention.ms": "1000", "cleanup.policy": "compact"}
	created := p.create(t, "Orders_v1", 3, config)
	if created.ID == uuid.Nil || created.ID.Version() != 4 || created.Partitions != 3 || !maps.Equal(created.Overrides, config) {
		t.Fatalf("created %+v", created)
	}
	if created.Effective.RetentionAge != time.Second || !created.Effective.Compact {
		t.Fatalf("in effect: %+v", created.Effective)
	}
	for _, q := range []*process{p, start(t, memory)} {
		topic := q.topic(t, "Orders_v1")
		if topic.ID != created.ID || topic.Partitions != 3 || !maps.Equal(topic.Overrides, config) || topic.Internal {
			t.Fatalf("found %+v, created %+v", topic, created)
		}
		if byID, ok := q.catalog.Snapshot().ByID(created.ID); !ok || byID != topic {
			t.Fatalf("by id: %+v", byID)
		}
		for partition := range topic.Partitions {
			q.lead(t, topic, partition)
		}
		if stored, err := topicdir.ReadConfig(q.volume, dirs(topic)); err != nil || !maps.Equal(stored, config) {
			t.Fatalf("stored beside the data: %v, error %v", stored, err)
		}
		if len(q.Problems()) > 0 {
			t.Fatalf("problems: %v", q.Problems())
		}
	}
}

func TestCreatedTopicHasAManifest(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	topic := p.create(t, "orders.v1", 2, map[string]string{"retention.ms": "1000"})
	text := get(t, memory, "orders.v1.yaml")
	for _, part := range []string{
		"apiVersion: kaas.rs/v1alpha1\n", "kind: KafkaTopic\n", "name: orders.v1\n", "partitions: 2\n", `retention.ms: "1000"`,
		"topicId: " + topic.ID.String(), "partitionCount: 2", "type: Ready",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the manifest lacks %q:\n%s", part, text)
		}
	}
	if strings.Contains(text, "creationTimestamp") || strings.Contains(text, "topicName: orders.v1\n  partitions") {
		t.Errorf("the manifest has needless fields:\n%s", text)
	}
	p.create(t, "Not-An-Object_Name", 1, nil)
	if text := get(t, memory, metastore.ObjectName("Not-An-Object_Name")+".yaml"); !strings.Contains(text, "topicName: Not-An-Object_Name\n") {
		t.Errorf("the topic's name is not in the manifest:\n%s", text)
	}
}

func TestCreateTopicRefuses(t *testing.T) {
	p := start(t, vfs.NewMem(0))
	p.create(t, "a.b", 1, nil)
	p.create(t, "other", 1, nil)
	cases := map[string]struct {
		topic metastore.NewTopic
		err   error
	}{
		"existing":             {metastore.NewTopic{Name: "other", Partitions: 1}, metastore.ErrTopicExists},
		"collision":            {metastore.NewTopic{Name: "a_b", Partitions: 1}, catalog.ErrInvalidName},
		"path":                 {metastore.NewTopic{Name: "../x", Partitions: 1}, catalog.ErrInvalidName},
		"dots":                 {metastore.NewTopic{Name: "..", Partitions: 1}, catalog.ErrInvalidName},
		"empty":                {metastore.NewTopic{Name: "", Partitions: 1}, catalog.ErrInvalidName},
		"long":                 {metastore.NewTopic{Name: strings.Repeat("x", 250), Partitions: 1}, catalog.ErrInvalidName},
		"metadata log":         {metastore.NewTopic{Name: "__cluster_metadata", Partitions: 1}, catalog.ErrReservedName},
		"no partitions":        {metastore.NewTopic{Name: "x", Partitions: 0}, metastore.ErrInvalidPartitions},
		"negative partitions":  {metastore.NewTopic{Name: "x", Partitions: -1}, metastore.ErrInvalidPartitions},
		"too many partitions":  {metastore.NewTopic{Name: "x", Partitions: 10_001}, metastore.ErrInvalidPartitions},
		"unknown config":       {metastore.NewTopic{Name: "x", Partitions: 1, Config: map[string]string{"x.y": "1"}}, metastore.ErrInvalidConfig},
		"invalid config value": {metastore.NewTopic{Name: "x", Partitions: 1, Config: map[string]string{"retention.ms": "soon"}}, metastore.ErrInvalidConfig},
	}
	for name, c := range cases {
		for _, only := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, validate only %v", name, only), func(t *testing.T) {
				c.topic.ValidateOnly = only
				if topic, err := p.CreateTopic(t.Context(), c.topic); !errors.Is(err, c.err) {
					t.Fatalf("created %+v, error %v, want %v", topic, err, c.err)
				}
				if n := p.catalog.Snapshot().Len(); n != 2 {
					t.Fatalf("%d topics", n)
				}
			})
		}
	}
}

func TestValidateOnlyChangesNothing(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	p.create(t, "orders", 1, nil)
	snapshot, before := p.catalog.Snapshot(), names(t, memory, ".")
	manifest := get(t, memory, "orders.yaml")
	topic, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "x", Partitions: 4, Config: map[string]string{"retention.ms": "1"}, ValidateOnly: true})
	if err != nil || topic.Partitions != 4 || topic.Effective.RetentionAge != time.Millisecond {
		t.Fatalf("%+v, error %v", topic, err)
	}
	if topic, err = p.CreatePartitions(t.Context(), "orders", 5, true); err != nil || topic.Partitions != 5 {
		t.Fatalf("%+v, error %v", topic, err)
	}
	set := func(c map[string]string) error { c["retention.ms"] = "7"; return nil }
	if topic, err = p.AlterTopicConfig(t.Context(), "orders", true, set); err != nil || topic.Overrides["retention.ms"] != "7" {
		t.Fatalf("%+v, error %v", topic, err)
	}
	if after := names(t, memory, "."); p.catalog.Snapshot() != snapshot || len(after) != len(before) || get(t, memory, "orders.yaml") != manifest {
		t.Fatalf("something changed: %v, before %v", after, before)
	}
}

func TestPartitionsGrow(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	created := p.create(t, "orders", 2, nil)
	epoch := p.lead(t, created, 1)
	for _, total := range []int32{-1, 0, 1, 2, 10_001} {
		if _, err := p.CreatePartitions(t.Context(), "orders", total, false); !errors.Is(err, metastore.ErrInvalidPartitions) {
			t.Fatalf("to %d: %v", total, err)
		}
	}
	if _, err := p.CreatePartitions(t.Context(), "nothing", 5, false); !errors.Is(err, metastore.ErrUnknownTopic) {
		t.Fatalf("unknown topic: %v", err)
	}
	grown, err := p.CreatePartitions(t.Context(), "orders", 4, false)
	if err != nil || grown.Partitions != 4 || grown.ID != created.ID {
		t.Fatalf("%+v, error %v", grown, err)
	}
	for _, q := range []*process{p, start(t, memory)} {
		topic := q.topic(t, "orders")
		if topic.Partitions != 4 {
			t.Fatalf("%d partitions", topic.Partitions)
		}
		q.lead(t, topic, 3)
		if again := q.lead(t, topic, 1); again <= epoch {
			t.Fatalf("partition 1 was made anew: epoch %d after %d", again, epoch)
		}
	}
}

func TestLostPartitionIsNotMadeAgain(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	topic := p.create(t, "orders", 2, nil)
	if err := storage.DestroyPartition(t.Context(), openAt(t, memory, "orders/"+topic.ID.String()), "0"); err != nil {
		t.Fatal(err)
	}
	q := start(t, memory)
	q.reload(t)
	if _, err := q.CreatePartitions(t.Context(), "orders", 3, false); err != nil {
		t.Fatal(err)
	}
	if dir, err := topicdir.OpenPartition(q.volume, dirs(q.topic(t, "orders")), 0); err == nil {
		_ = dir.Close()
		t.Fatal("the lost partition is an empty one now")
	}
}

func TestConfigIsAltered(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	p.create(t, "orders", 1, map[string]string{"retention.ms": "1", "segment.bytes": "1048576"})
	change := func(c map[string]string) error {
		delete(c, "retention.ms")
		c["max.message.bytes"] = "5000"
		return nil
	}
	topic, err := p.AlterTopicConfig(t.Context(), "orders", false, change)
	want := map[string]string{"segment.bytes": "1048576", "max.message.bytes": "5000"}
	if err != nil || !maps.Equal(topic.Overrides, want) || topic.Effective.MaxMessageBytes != 5000 {
		t.Fatalf("%+v, error %v", topic, err)
	}
	for _, q := range []*process{p, start(t, memory)} {
		if got := q.topic(t, "orders").Overrides; !maps.Equal(got, want) {
			t.Fatalf("overrides %v", got)
		}
		if stored, err := topicdir.ReadConfig(q.volume, dirs(topic)); err != nil || !maps.Equal(stored, want) {
			t.Fatalf("stored beside the data: %v, error %v", stored, err)
		}
	}
	refused := errors.New("not this one")
	bad := map[string]struct {
		topic  string
		change func(map[string]string) error
		err    error
	}{
		"unknown topic": {"nothing", change, metastore.ErrUnknownTopic},
		"invalid value": {"orders", func(c map[string]string) error { c["segment.bytes"] = "-5"; return nil }, metastore.ErrInvalidConfig},
		"caller's own":  {"orders", func(map[string]string) error { return refused }, refused},
	}
	for name, c := range bad {
		if _, err := p.AlterTopicConfig(t.Context(), c.topic, false, c.change); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := p.topic(t, "orders").Overrides; !maps.Equal(got, want) {
		t.Fatalf("refused changes have changed it to %v", got)
	}
}

func TestDeletedTopicIsGoneAndItsNameFree(t *testing.T) {
	memory := vfs.NewMem(0)
	var abandoned []*catalog.Topic
	p := start(t, memory, func(o *metastore.Options) {
		o.Abandon = func(_ context.Context, topic *catalog.Topic) error {
			if _, shown := o.Catalog.Snapshot().ByName(topic.Name); shown {
				t.Error("the topic is still in the catalog when its partitions are abandoned")
			}
			abandoned = append(abandoned, topic)
			return nil
		}
	})
	first := p.create(t, "orders", 2, nil)
	var last storage.Epoch
	for range 5 {
		last = p.lead(t, first, 1)
	}
	if err := p.DeleteTopic(t.Context(), "nothing"); !errors.Is(err, metastore.ErrUnknownTopic) {
		t.Fatalf("unknown topic: %v", err)
	}
	if err := p.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	p.missing(t, "orders")
	if len(abandoned) != 1 || abandoned[0].ID != first.ID {
		t.Fatalf("abandoned %v", abandoned)
	}
	if err := p.DeleteTopic(t.Context(), "orders"); !errors.Is(err, metastore.ErrUnknownTopic) {
		t.Fatalf("a second deletion: %v", err)
	}
	second := p.create(t, "orders", 1, nil)
	if second.ID == first.ID {
		t.Fatal("the new topic has the id of the old one")
	}
	if epoch := p.lead(t, second, 0); epoch <= last {
		t.Fatalf("the new topic is led at epoch %d, the old one was at %d", epoch, last)
	}
	p.Sweep(t.Context())
	if left := names(t, memory, "orders"); len(left) != 1 || left[0] != second.ID.String() {
		t.Fatalf("directories: %v", left)
	}
	if left := names(t, memory, clusterPath+"/topic_deletions"); len(left) != 0 {
		t.Fatalf("notes: %v", left)
	}
	p.lead(t, second, 0)
	if topic := start(t, memory).topic(t, "orders"); topic.ID != second.ID {
		t.Fatalf("after a restart %+v", topic)
	}
}

func TestDeletionThatCannotAbandonKeepsTheName(t *testing.T) {
	stuck := errors.New("stuck")
	p := start(t, vfs.NewMem(0), func(o *metastore.Options) {
		o.Abandon = func(context.Context, *catalog.Topic) error { return stuck }
	})
	p.create(t, "orders", 1, nil)
	if err := p.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	p.missing(t, "orders")
	if _, err := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "orders", Partitions: 1}); !errors.Is(err, metastore.ErrDeleting) {
		t.Fatalf("a namesake: %v", err)
	}
	p.Sweep(t.Context())
	p.reload(t)
	p.problem(t, "", "stuck")
	stuck = nil
	p.create(t, "orders", 1, nil)
}

func TestFencedProcessAnswersNoChange(t *testing.T) {
	memory := vfs.NewMem(0)
	first := start(t, memory)
	first.create(t, "orders", 1, nil)
	second := start(t, memory)
	calls := map[string]func() error{
		"create": func() error {
			_, err := first.CreateTopic(t.Context(), metastore.NewTopic{Name: "x", Partitions: 1})
			return err
		},
		"grow":   func() error { _, err := first.CreatePartitions(t.Context(), "orders", 2, false); return err },
		"delete": func() error { return first.DeleteTopic(t.Context(), "orders") },
		"alter": func() error {
			_, err := first.AlterTopicConfig(t.Context(), "orders", false, func(map[string]string) error { return nil })
			return err
		},
		"reload": func() error { return first.Reload(t.Context()) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, clusterdir.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	second.reload(t)
	if topic := second.topic(t, "orders"); topic.Partitions != 1 || second.catalog.Snapshot().Len() != 1 {
		t.Fatalf("%+v and %d topics", topic, second.catalog.Snapshot().Len())
	}
}

func TestFutureVersionsAreRefused(t *testing.T) {
	for _, place := range []string{"topic_state/orders.json", "topic_deletions/6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01.json"} {
		t.Run(place, func(t *testing.T) {
			memory := vfs.NewMem(0)
			start(t, memory)
			dir, name, _ := strings.Cut(place, "/")
			content := `{"version":2,"name":"orders","topicId":"6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01","partitions":1}`
			if err := vfs.WriteFileAtomic(openAt(t, memory, clusterPath+"/"+dir), name, []byte(content)); err != nil {
				t.Fatal(err)
			}
			if _, err := tryStart(t.Context(), memory); !errors.Is(err, storage.ErrFutureVersion) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func TestObjectNames(t *testing.T) {
	plain := []string{"orders", "orders.v1", "a-b.c-d", "0", strings.Repeat("x", 200)}
	for _, name := range plain {
		if got := metastore.ObjectName(name); got != name {
			t.Errorf("%s became %s", name, got)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{
		"Orders", "or_ders", "-x", "x-", ".x", "x.", "a..b", strings.Repeat("x", 201), "kaas-topic-0123456789abcdef", "__consumer_offsets",
	} {
		got := metastore.ObjectName(name)
		if !strings.HasPrefix(got, "kaas-topic-") || len(got) != 27 || got == name || seen[got] != "" || metastore.ObjectName(name) != got {
			t.Errorf("%s became %s", name, got)
		}
		seen[got] = name
	}
}
