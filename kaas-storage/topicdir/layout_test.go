package topicdir_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestEscape(t *testing.T) {
	cases := map[string]string{
		"orders":                 "orders",
		"Orders_v1.2-x":          "Orders_v1.2-x",
		"__consumer_offsets":     "__consumer_offsets",
		".snapshot":              "%2Esnapshot",
		"..":                     "%2E.",
		".":                      "%2E",
		"__cluster":              "%5F_cluster",
		"__cluster_metadata":     "%5F_cluster_metadata",
		"a/b":                    "a%2Fb",
		"../../etc/passwd":       "%2E.%2F..%2Fetc%2Fpasswd",
		"lost+found":             "lost%2Bfound",
		"100%":                   "100%25",
		"%2E":                    "%252E",
		"":                       "%",
		"nul\x00":                "nul%00",
		"\xff":                   "%FF",
		strings.Repeat("x", 249): strings.Repeat("x", 249),
	}
	for name, want := range cases {
		got := topicdir.Escape(name)
		if got != want {
			t.Errorf("Escape(%q) = %q, want %q", name, got, want)
		}
		if back, ok := topicdir.Unescape(got); !ok || back != name {
			t.Errorf("Unescape(%q) = %q, %v", got, back, ok)
		}
	}
	for _, strange := range []string{"lost+found", ".snapshot", "__cluster", "%2e", "%41", "%4", "%zz", "", ".kaas-volume.json"} {
		if name, ok := topicdir.Unescape(strange); ok {
			t.Errorf("Unescape(%q) = %q, but Escape never gives it", strange, name)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("orders", "Orders")
	f.Add(".", "%2E")
	f.Add("__cluster", "%5F_cluster")
	f.Fuzz(func(t *testing.T, a, b string) {
		escaped := topicdir.Escape(a)
		if back, ok := topicdir.Unescape(escaped); !ok || back != a {
			t.Fatalf("%q became %q became %q", a, escaped, back)
		}
		if a != b && escaped == topicdir.Escape(b) {
			t.Fatalf("%q and %q are both %q", a, b, escaped)
		}
		if escaped == "" || escaped[0] == '.' || strings.HasPrefix(escaped, "__cluster") || strings.ContainsAny(escaped, "/\\+\x00") {
			t.Fatalf("%q became %q", a, escaped)
		}
		if name, ok := topicdir.Unescape(b); ok && topicdir.Escape(name) != b {
			t.Fatalf("%q became %q, which would be another file", b, name)
		}
	})
}

func TestOpenPartitionMakesNothing(t *testing.T) {
	memory := vfs.NewMem(0)
	v := volume(t, memory)
	topic := topicdir.Topic{Name: "orders", ID: firstID, Partitions: 1}
	if _, err := topicdir.OpenPartition(v, topic, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a topic that was never made: %v", err)
	}
	create(t, v, topic, 0, 0)
	if _, err := topicdir.OpenPartition(v, topic, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a partition that was never made: %v", err)
	}
	other := topic
	other.ID = secondID
	if _, err := topicdir.OpenPartition(v, other, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("another incarnation: %v", err)
	}
}
