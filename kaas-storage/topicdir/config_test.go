package topicdir_test

import (
	"errors"
	"io/fs"
	"maps"
	"testing"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestConfigIsReadAsWritten(t *testing.T) {
	v := volume(t, vfs.NewMem(0))
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	if err := topicdir.WriteConfig(v, topic, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("configuration of a topic without directory: %v", err)
	}
	create(t, v, topic, 0, 0)
	if _, err := topicdir.ReadConfig(v, topic); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("configuration that was never written: %v", err)
	}
	for _, config := range []map[string]string{{"retention.ms": "5", "cleanup.policy": "compact"}, {"a": `"\` + "\n"}, {}, nil} {
		if err := topicdir.WriteConfig(v, topic, config); err != nil {
			t.Fatal(err)
		}
		got, err := topicdir.ReadConfig(v, topic)
		if err != nil || got == nil || !maps.Equal(got, config) {
			t.Fatalf("wrote %v, read %v, error %v", config, got, err)
		}
	}
}

func TestReadConfigJudgesTheFile(t *testing.T) {
	corrupt := func(err error) bool { var c *storage.CorruptionError; return errors.As(err, &c) }
	cases := map[string]struct {
		content string
		want    func(error) bool
	}{
		"future version": {`{"version":2,"config":{}}`, func(err error) bool { return errors.Is(err, storage.ErrFutureVersion) }},
		"no version":     {`{"config":{}}`, corrupt},
		"cut":            {`{"version":1,"con`, corrupt},
		"empty":          {``, corrupt},
		"wrong type":     {`{"version":1,"config":{"a":1}}`, corrupt},
		"no config":      {`{"version":1}`, func(err error) bool { return err == nil }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			memory := vfs.NewMem(0)
			v := volume(t, memory)
			topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
			create(t, v, topic, 0, 0)
			dir, err := memory.OpenDir("orders/" + firstID.String())
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if err := vfs.WriteFileAtomic(dir, ".config.json", []byte(c.content)); err != nil {
				t.Fatal(err)
			}
			if _, err := topicdir.ReadConfig(v, topic); !c.want(err) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

// FuzzConfig wants a configuration that is read to be written and read again.
func FuzzConfig(f *testing.F) {
	f.Add(`{"version":1,"config":{"retention.ms":"5"}}`)
	f.Add(`{"version":1,"config":null}`)
	f.Add(`{"version":2}`)
	f.Fuzz(func(t *testing.T, content string) {
		memory := vfs.NewMem(0)
		v := volume(t, memory)
		topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
		create(t, v, topic, 0, 0)
		dir, err := memory.OpenDir("orders/" + firstID.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFileAtomic(dir, ".config.json", []byte(content)); err != nil {
			t.Fatal(err)
		}
		config, err := topicdir.ReadConfig(v, topic)
		if err != nil {
			return
		}
		if err := topicdir.WriteConfig(v, topic, config); err != nil {
			t.Fatal(err)
		}
		if again, err := topicdir.ReadConfig(v, topic); err != nil || !maps.Equal(again, config) {
			t.Fatalf("%q became %q, %v", config, again, err)
		}
	})
}
