package metastore_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestManifestsOfPeopleAreFollowed(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 2\n  config:\n    retentionMs: 5000\n    max.message.bytes: \"7000\"\n"))
	put(t, memory, "events.yml", manifestOf("some-events", "  topicName: Some_Events\n"))
	p.reload(t)
	topic := p.topic(t, "orders")
	if want := map[string]string{"retention.ms": "5000", "max.message.bytes": "7000"}; topic.Partitions != 2 || !maps.Equal(topic.Overrides, want) {
		t.Fatalf("%+v", topic)
	}
	p.lead(t, topic, 1)
	if events := p.topic(t, "Some_Events"); events.Partitions != 1 {
		t.Fatalf("%+v", events)
	}
	text := manifestOf("orders", "  # a comment of mine\n  partitions: 3\n  config:\n    retentionMs: 6000\n")
	put(t, memory, "orders.yaml", text)
	p.reload(t)
	changed := p.topic(t, "orders")
	if changed.ID != topic.ID || changed.Partitions != 3 || !maps.Equal(changed.Overrides, map[string]string{"retention.ms": "6000"}) {
		t.Fatalf("%+v", changed)
	}
	if get(t, memory, "orders.yaml") != text {
		t.Fatal("a person's manifest has been rewritten")
	}
	if again := start(t, memory).topic(t, "orders"); again.ID != topic.ID || again.Partitions != 3 || !maps.Equal(again.Overrides, changed.Overrides) {
		t.Fatalf("after a restart %+v", again)
	}
	if len(p.Problems()) > 0 {
		t.Fatalf("problems: %v", p.Problems())
	}
}

func TestDefaultPartitionsAreForNewTopicsOnly(t *testing.T) {
	memory := vfs.NewMem(0)
	defaults := func(n int32) func(*metastore.Options) {
		return func(o *metastore.Options) { o.DefaultPartitions = func() int32 { return n } }
	}
	p := start(t, memory, defaults(4))
	put(t, memory, "orders.yaml", manifestOf("orders", "  config: {}\n"))
	p.reload(t)
	if got := p.topic(t, "orders").Partitions; got != 4 {
		t.Fatalf("%d partitions", got)
	}
	if got := start(t, memory, defaults(9)).topic(t, "orders").Partitions; got != 4 {
		t.Fatalf("%d partitions after the default was raised", got)
	}
}

// Whatever happens to a manifest, the topic stays as it was.
func TestBadManifestsChangeNothing(t *testing.T) {
	cases := map[string]struct {
		do  func(t *testing.T, fs vfs.FS)
		say string
		of  string
	}{
		"vanished": {func(t *testing.T, fs vfs.FS) { drop(t, fs, "orders.yaml") }, "missing", ""},
		"empty":    {func(t *testing.T, fs vfs.FS) { put(t, fs, "orders.yaml", "") }, "cannot be read", "orders.yaml"},
		"no YAML":  {func(t *testing.T, fs vfs.FS) { put(t, fs, "orders.yaml", "\t{{{") }, "cannot be read", "orders.yaml"},
		"cut":      {func(t *testing.T, fs vfs.FS) { put(t, fs, "orders.yaml", "apiVersion: kaas.rs/v1alpha1\nki") }, "cannot be read", "orders.yaml"},
		"binary":   {func(t *testing.T, fs vfs.FS) { put(t, fs, "orders.yaml", "\x00\xff\x00") }, "cannot be read", "orders.yaml"},
		"huge":     {func(t *testing.T, fs vfs.FS) { put(t, fs, "orders.yaml", strings.Repeat("#", 2<<20)) }, "larger", "orders.yaml"},
		"misspelled": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitons: 9\n"))
		}, "partitons", "orders.yaml"},
		"other kind": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", strings.Replace(manifestOf("orders", "  partitions: 9\n"), "KafkaTopic", "KafkaUser", 1))
		}, "KafkaUser", "orders.yaml"},
		"future version": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", strings.Replace(manifestOf("orders", "  partitions: 9\n"), "v1alpha1", "v2", 1))
		}, "v2", "orders.yaml"},
		"two documents": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitions: 9\n")+"---\n"+manifestOf("x", "  partitions: 1\n"))
		}, "more than one", "orders.yaml"},
		"fewer partitions": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitions: 2\n  config: {retentionMs: 5}\n"))
		}, "keeps them", "orders.yaml"},
		"bad partitions": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitions: -2\n"))
		}, "partition", "orders.yaml"},
		"unknown config": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitions: 9\n  config: {retention.hours: 5}\n"))
		}, "retention.hours", "orders.yaml"},
		"config in two spellings": {func(t *testing.T, fs vfs.FS) {
			put(t, fs, "orders.yaml", manifestOf("orders", "  partitions: 9\n  config: {retention.ms: 5, retentionMs: 6}\n"))
		}, "two spellings", "orders.yaml"},
		"directory in its place": {func(t *testing.T, fs vfs.FS) {
			drop(t, fs, "orders.yaml")
			if err := fs.MkdirAll(clusterPath + "/topics/orders.yaml"); err != nil {
				t.Fatal(err)
			}
		}, "missing", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			memory := vfs.NewMem(0)
			p := start(t, memory)
			put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 3\n  config: {retentionMs: 5}\n"))
			p.reload(t)
			before := p.topic(t, "orders")
			c.do(t, memory)
			p.reload(t)
			var q *process
			for _, q = range []*process{p, start(t, memory)} {
				after := q.topic(t, "orders")
				if after.ID != before.ID || after.Partitions != 3 || !maps.Equal(after.Overrides, map[string]string{"retention.ms": "5"}) {
					t.Fatalf("%+v became %+v", before, after)
				}
				if n := q.catalog.Snapshot().Len(); n != 1 {
					t.Fatalf("%d topics", n)
				}
				q.problem(t, c.of, c.say)
				q.lead(t, after, 2)
			}
			if name != "directory in its place" {
				put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 4\n"))
				q.reload(t)
				if after := q.topic(t, "orders"); after.ID != before.ID || after.Partitions != 4 || len(q.Problems()) > 0 {
					t.Fatalf("after it was mended %+v, problems %v", after, q.Problems())
				}
			}
		})
	}
}

func TestUnlistableManifestsChangeNothing(t *testing.T) {
	broken := errors.New("input/output error")
	fail := false
	fault := vfs.NewFault(vfs.NewMem(0), func(op vfs.Op) error {
		if fail && !op.After && strings.HasSuffix(op.Path, "/topics") {
			return broken
		}
		return nil
	})
	p := start(t, fault)
	topic := p.create(t, "orders", 2, nil)
	fail = true
	p.reload(t)
	if after := p.topic(t, "orders"); after != topic && after.ID != topic.ID {
		t.Fatalf("%+v", after)
	}
	p.problem(t, "", "input/output error")
	fail = false
	p.reload(t)
	if len(p.Problems()) > 0 {
		t.Fatalf("problems: %v", p.Problems())
	}
}

func TestInvalidNamesInManifests(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	p.create(t, "a.b", 1, nil)
	put(t, memory, "up.yaml", manifestOf("up", "  topicName: ../up\n  partitions: 1\n"))
	put(t, memory, "metadata.yaml", manifestOf("metadata", "  topicName: __cluster_metadata\n  partitions: 1\n"))
	put(t, memory, "collision.yaml", manifestOf("collision", "  topicName: a_b\n  partitions: 1\n"))
	put(t, memory, ".hidden.yaml", manifestOf("hidden", "  partitions: 1\n"))
	put(t, memory, "notes.txt", "buy milk")
	p.reload(t)
	if n := p.catalog.Snapshot().Len(); n != 1 {
		t.Fatalf("%d topics", n)
	}
	for manifest, text := range map[string]string{"up.yaml": "character", "metadata.yaml": "reserved", "collision.yaml": "collides"} {
		p.problem(t, manifest, text)
	}
	if len(p.Problems()) != 3 {
		t.Fatalf("problems: %v", p.Problems())
	}
}

func TestSecondManifestOfATopicIsIgnored(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	put(t, memory, "a.yaml", manifestOf("a", "  topicName: orders\n  partitions: 9\n"))
	put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 2\n"))
	p.reload(t)
	if got := p.topic(t, "orders").Partitions; got != 2 {
		t.Fatalf("%d partitions", got)
	}
	p.problem(t, "a.yaml", "orders.yaml")
	if err := p.DeleteTopic(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	p.reload(t)
	p.missing(t, "orders")
}

func TestCopiedManifestIsANewTopic(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	topic := p.create(t, "orders", 1, nil)
	put(t, memory, "copy.yaml", strings.ReplaceAll(get(t, memory, "orders.yaml"), "orders", "copy"))
	p.reload(t)
	if copied := p.topic(t, "copy"); copied.ID == topic.ID {
		t.Fatal("two topics with one id")
	}
}

func TestTopicIsFoundAgainWhenItsStateIsLost(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	topic := p.create(t, "orders", 3, map[string]string{"retention.ms": "5"})
	epoch := p.lead(t, topic, 2)
	if err := openAt(t, memory, clusterPath+"/topic_state").Remove("orders.json"); err != nil {
		t.Fatal(err)
	}
	q := start(t, memory)
	found := q.topic(t, "orders")
	if found.ID != topic.ID || found.Partitions != 3 {
		t.Fatalf("%+v was %+v", found, topic)
	}
	if again := q.lead(t, found, 2); again <= epoch {
		t.Fatalf("epoch %d after %d", again, epoch)
	}
}

func TestChangesThroughTheAPIMeetManifestsOfPeople(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	p.create(t, "orders", 1, nil)
	set := func(c map[string]string) error { c["retention.ms"] = "7"; return nil }

	put(t, memory, "orders.yaml", "half a manif")
	if _, err := p.AlterTopicConfig(t.Context(), "orders", false, set); !errors.Is(err, metastore.ErrManifest) {
		t.Fatalf("an unreadable manifest: %v", err)
	}
	if get(t, memory, "orders.yaml") != "half a manif" {
		t.Fatal("it was overwritten")
	}

	drop(t, memory, "orders.yaml")
	if _, err := p.AlterTopicConfig(t.Context(), "orders", false, set); err != nil {
		t.Fatal(err)
	}
	if text := get(t, memory, "orders.yaml"); !strings.Contains(text, `retention.ms: "7"`) {
		t.Fatalf("the manifest was not made again:\n%s", text)
	}

	// A change that a person made and no pass has seen is kept.
	put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 2\n  config: {retentionMs: 9, segmentBytes: 1048576}\n"))
	topic, err := p.AlterTopicConfig(t.Context(), "orders", false, set)
	if err != nil || topic.Partitions != 2 || !maps.Equal(topic.Overrides, map[string]string{"retention.ms": "7", "segment.bytes": "1048576"}) {
		t.Fatalf("%+v, error %v", topic, err)
	}

	put(t, memory, "later.yaml", "half a manif")
	p.create(t, "later", 1, nil)
	if get(t, memory, "later.yaml") != "half a manif" {
		t.Fatal("a manifest that a person is writing was overwritten")
	}
}

func TestRunPicksUpManifests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := vfs.NewMem(0)
		p := start(t, memory)
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- p.Run(ctx) }()
		put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 1\n"))
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		topic := p.topic(t, "orders")
		// The same length within the same clock tick: neither size nor time tells.
		put(t, memory, "orders.yaml", manifestOf("orders", "  partitions: 2\n"))
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if got := p.topic(t, "orders").Partitions; got != 2 {
			t.Fatalf("%d partitions", got)
		}
		if err := p.DeleteTopic(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, name := range names(t, memory, ".") {
			if name == "orders" {
				t.Fatalf("directory of topic %s is left", topic.ID)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
