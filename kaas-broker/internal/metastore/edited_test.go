package metastore_test

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A person edits what the store has written: the status then tells of the edited topic, and everything else is as the person left it.
func TestStatusFollowsAnEdit(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	p.create(t, "orders", 2, nil)
	written := get(t, memory, "orders.yaml")
	edited := "# mine\n" + strings.Replace(written, "partitions: 2", "partitions: 3 # more", 1)
	put(t, memory, "orders.yaml", edited)
	p.reload(t)
	want := strings.Replace(edited, "partitionCount: 2", "partitionCount: 3", 1)
	if want == edited {
		t.Fatalf("no status in\n%s", written)
	}
	if got := get(t, memory, "orders.yaml"); got != want {
		t.Errorf("the manifest is\n%s\nwant\n%s", got, want)
	}
	p.reload(t)
	if got := get(t, memory, "orders.yaml"); got != want {
		t.Errorf("after another pass it is\n%s", got)
	}
}

// A status that names another topic comes from a copied file; in one line it cannot be exchanged by itself.
func TestForeignStatusIsPutRight(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	for name, text := range map[string]string{
		"lines":    manifestOf("lines", "  partitions: 1\n") + "status:\n  topicId: " + someID + "\n  conditions:\n  - type: Other\n    status: \"True\"\n    reason: R\n    message: m\n    lastTransitionTime: null\n",
		"one-line": manifestOf("one-line", "  partitions: 1\n") + "status: {topicId: " + someID + "}\n",
	} {
		put(t, memory, name+".yaml", text)
		p.reload(t)
		id := p.topic(t, name).ID.String()
		if got := get(t, memory, name+".yaml"); strings.Contains(got, someID) || !strings.Contains(got, id) || strings.Count(got, "topicId") != 1 {
			t.Errorf("%s, topic id %s:\n%s", name, id, got)
		}
	}
}

const someID = "6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01"

// The configuration in a topic's directory follows the manifest, whoever has changed it.
func TestMaterializedConfigurationIsRepaired(t *testing.T) {
	memory := vfs.NewMem(0)
	var log strings.Builder
	p := start(t, memory, func(o *metastore.Options) { o.Logger = zerolog.New(&log) })
	topic := p.create(t, "orders", 1, map[string]string{"retention.ms": "5000"})
	where := dirs(topic)
	path := "orders/" + topic.ID.String()
	for name, damage := range map[string]func() error{
		"edited":  func() error { return topicdir.WriteConfig(p.volume, where, map[string]string{"retention.ms": "1"}) },
		"removed": func() error { return within(memory, path, func(d vfs.Dir) error { return d.Remove(".config.json") }) },
		"spoiled": func() error {
			return within(memory, path, func(d vfs.Dir) error { return vfs.WriteFileAtomic(d, ".config.json", []byte("{")) })
		},
	} {
		log.Reset()
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		p.reload(t)
		found, err := topicdir.ReadConfig(p.volume, where)
		if err != nil || !maps.Equal(found, map[string]string{"retention.ms": "5000"}) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if !strings.Contains(log.String(), "written anew") {
			t.Errorf("%s: the log says %q", name, log.String())
		}
		if shown := p.topic(t, "orders").Overrides["retention.ms"]; shown != "5000" {
			t.Errorf("%s: the topic shows %s", name, shown)
		}
	}
	future := []byte(`{"version":99}`)
	if err := within(memory, path, func(d vfs.Dir) error { return vfs.WriteFileAtomic(d, ".config.json", future) }); err != nil {
		t.Fatal(err)
	}
	p.reload(t)
	if _, err := topicdir.ReadConfig(p.volume, where); !errors.Is(err, storage.ErrFutureVersion) {
		t.Errorf("a file of a later version was replaced: %v", err)
	}
	if problems := p.Problems(); len(problems) != 1 || problems[0].Topic != "orders" {
		t.Errorf("problems: %v", problems)
	}
}

// Of more topics than one pass looks at, each has its turn.
func TestEveryConfigurationHasItsTurn(t *testing.T) {
	memory := vfs.NewMem(0)
	p := start(t, memory)
	names := make([]string, 300)
	for i := range names {
		names[i] = strings.Repeat("t", i/100+1) + string(rune('a'+i%100/10)) + string(rune('a'+i%10))
		topic := p.create(t, names[i], 1, nil)
		if err := within(memory, names[i]+"/"+topic.ID.String(), func(d vfs.Dir) error { return d.Remove(".config.json") }); err != nil {
			t.Fatal(err)
		}
	}
	p.reload(t)
	p.reload(t)
	for _, name := range names {
		if _, err := topicdir.ReadConfig(p.volume, dirs(p.topic(t, name))); errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the configuration of %s is still missing", name)
		}
	}
}

func within(filesystem vfs.FS, path string, do func(d vfs.Dir) error) error {
	dir, err := filesystem.OpenDir(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// Partitions that the broker could not lead are not made, whoever asks for them.
func TestRoomIsAsked(t *testing.T) {
	memory := vfs.NewMem(0)
	full := errors.New("four at most")
	p := start(t, memory, func(o *metastore.Options) {
		o.RoomFor = func(partitions int) error {
			if partitions > 4 {
				return full
			}
			return nil
		}
	})
	p.create(t, "orders", 3, nil)
	_, created := p.CreateTopic(t.Context(), metastore.NewTopic{Name: "more", Partitions: 2})
	_, grown := p.CreatePartitions(t.Context(), "orders", 5, false)
	for what, err := range map[string]error{"create": created, "grow": grown} {
		if !errors.Is(err, metastore.ErrNoRoom) || !errors.Is(err, full) {
			t.Errorf("%s: %v", what, err)
		}
	}
	put(t, memory, "people.yaml", manifestOf("people", "  partitions: 2\n"))
	p.reload(t)
	p.missing(t, "people")
	if problems := p.Problems(); len(problems) != 1 || !strings.Contains(problems[0].Reason, "four at most") {
		t.Errorf("problems: %v", problems)
	}
	if _, err := p.CreatePartitions(t.Context(), "orders", 4, false); err != nil {
		t.Error(err)
	}
}
