package metastore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestOnDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("durable storage needs Linux")
	}
	root := t.TempDir()
	fs, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fs.Close() })
	p := start(t, fs)
	longest := strings.Repeat("x", 249)
	for _, name := range []string{"orders", ".hidden", "__cluster", longest, strings.Repeat(".", 249)} {
		topic := p.create(t, name, 2, map[string]string{"retention.ms": "5"})
		p.lead(t, topic, 1)
	}
	manifest := filepath.Join(root, clusterPath, "topics", "mine.yaml")
	if err := os.WriteFile(manifest, []byte(manifestOf("mine", "  partitions: 1\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p.reload(t)
	p.lead(t, p.topic(t, "mine"), 0)
	// In place, as some editors write.
	if err := os.WriteFile(manifest, []byte(manifestOf("mine", "  partitions: 2\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p.reload(t)
	p.lead(t, p.topic(t, "mine"), 1)
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	q := start(t, fs)
	if n := q.catalog.Snapshot().Len(); n != 6 {
		t.Fatalf("%d topics", n)
	}
	q.problem(t, "", "missing")
	for _, topic := range q.catalog.Snapshot().Topics() {
		if err := q.DeleteTopic(t.Context(), topic.Name); err != nil {
			t.Fatal(err)
		}
	}
	q.Sweep(t.Context())
	if n := start(t, fs).catalog.Snapshot().Len(); n != 0 {
		t.Fatalf("%d topics after all were deleted", n)
	}
	if left := names(t, fs, "."); len(left) != 2 {
		t.Fatalf("left in the data directory: %v", left)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add(manifestOf("orders", "  partitions: 2\n  config:\n    retentionMs: 5000\n"))
	f.Add(manifestOf("x", "  topicName: Orders\n  partitions: 1e3\n"))
	f.Add("---\na: &a [*a]\n")
	f.Add("\xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		memory := vfs.NewMem(64 << 20)
		p := start(t, memory)
		before := p.create(t, "orders", 1, nil)
		put(t, memory, "orders.yaml", text)
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := p.topic(t, "orders"); after.ID != before.ID || after.Partitions < 1 {
			t.Fatalf("%+v became %+v", before, after)
		}
	})
}

// FuzzState begins with any state of a topic: the topic is served as it says, or the start fails.
func FuzzState(f *testing.F) {
	f.Add(`{"version":1,"name":"orders","topicId":"6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01","partitions":1}`)
	f.Add(`{"version":1,"name":"orders","topicId":"00000000-0000-0000-0000-000000000000","partitions":1}`)
	f.Add(`{"version":1,"name":"other","topicId":"6b1f0c6e-3d0b-4f0c-9d2a-0d5f8f2f7a01","partitions":0}`)
	f.Add(`{"version":9}`)
	f.Fuzz(func(t *testing.T, text string) {
		memory := vfs.NewMem(64 << 20)
		first := start(t, memory)
		first.create(t, "orders", 1, nil)
		if err := vfs.WriteFileAtomic(openAt(t, memory, clusterPath+"/topic_state"), "orders.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		p, err := tryStart(t.Context(), memory)
		if err != nil {
			return
		}
		defer p.Close()
		for _, topic := range p.catalog.Snapshot().Topics() {
			if topic.Name != "orders" || topic.Partitions < 1 {
				t.Fatalf("%q became %+v", text, topic)
			}
		}
	})
}
