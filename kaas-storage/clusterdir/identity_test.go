package clusterdir_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	storage "github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestClusterIDIsMadeOnce(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		first := open(t, fs, clusterdir.Options{Path: "a/__cluster"})
		if len(first.ClusterID()) != 22 || first.ClusterID()[0] == '-' {
			t.Fatalf("cluster id %q is not like Kafka's", first.ClusterID())
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if again := open(t, fs, clusterdir.Options{Path: "a/__cluster"}); again.ClusterID() != first.ClusterID() {
			t.Fatalf("cluster id was %s, is %s", first.ClusterID(), again.ClusterID())
		}
		other := open(t, fs, clusterdir.Options{Path: "b"})
		if other.ClusterID() == first.ClusterID() {
			t.Fatal("two directories have one id")
		}
	})
}

func TestFirstOpenersAgreeOnTheClusterID(t *testing.T) {
	onEachFS(t, func(t *testing.T, fs vfs.FS) {
		const openers = 8
		ids := make([]string, openers)
		var group sync.WaitGroup
		for i := range openers {
			group.Go(func() {
				d, err := clusterdir.Open(t.Context(), fs, clusterdir.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				defer d.Close()
				ids[i] = d.ClusterID()
			})
		}
		group.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("openers disagree: %v", ids)
			}
		}
	})
}

func TestOpenJudgesTheIdentityFile(t *testing.T) {
	const id = "MkU3OEVBNTcwNTJENDM2Qg"
	cases := map[string]struct {
		content string
		wanted  string
		err     error
	}{
		"as written":         {content: `{"version":1,"clusterId":"` + id + `"}` + "\n"},
		"as wanted":          {content: `{"version":1,"clusterId":"` + id + `"}` + "\n", wanted: id},
		"another is wanted":  {content: `{"version":1,"clusterId":"` + id + `"}` + "\n", wanted: "other", err: clusterdir.ErrForeignCluster},
		"future version":     {content: `{"version":2,"clusterId":"` + id + `","more":1}` + "\n", err: storage.ErrFutureVersion},
		"no version":         {content: `{"clusterId":"` + id + `"}` + "\n", err: clusterdir.ErrFormat},
		"no id":              {content: `{"version":1}` + "\n", err: clusterdir.ErrFormat},
		"id with a slash":    {content: `{"version":1,"clusterId":"a/b"}` + "\n", err: clusterdir.ErrFormat},
		"no JSON":            {content: "hello\n", err: clusterdir.ErrFormat},
		"far too large file": {content: string(make([]byte, 70<<10)), err: vfs.ErrLimit},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem(0)
			write(t, fs, "cluster.json", c.content)
			d, err := clusterdir.Open(t.Context(), fs, clusterdir.Options{ClusterID: c.wanted})
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if err != nil {
				if got := names(t, fs, "."); len(got) != 1 {
					t.Fatalf("a directory that was refused has been changed: %v", got)
				}
				return
			}
			defer d.Close()
			if d.ClusterID() != id {
				t.Fatalf("id %s, want %s", d.ClusterID(), id)
			}
		})
	}
}

func TestWantedClusterIDIsTaken(t *testing.T) {
	d := open(t, vfs.NewMem(0), clusterdir.Options{ClusterID: "my-cluster"})
	if d.ClusterID() != "my-cluster" {
		t.Fatalf("id %s", d.ClusterID())
	}
	if _, err := clusterdir.Open(t.Context(), vfs.NewMem(0), clusterdir.Options{ClusterID: "a b"}); !errors.Is(err, clusterdir.ErrFormat) {
		t.Fatalf("a bad id gave %v", err)
	}
}

func TestIdentityThatACrashLeftUnfinishedIsReplaced(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "cut": `{"version":1,"clu`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem(0)
				write(t, fs, "cluster.json", content)
				first := open(t, fs, clusterdir.Options{})
				if again := open(t, fs, clusterdir.Options{}); again.ClusterID() != first.ClusterID() || len(first.ClusterID()) != 22 {
					t.Fatalf("ids %q and %q", first.ClusterID(), again.ClusterID())
				}
			})
		})
	}
}

func FuzzIdentity(f *testing.F) {
	f.Add(`{"version":1,"clusterId":"MkU3OEVBNTcwNTJENDM2Qg"}`)
	f.Add(`{"version":99}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, content string) {
		fs := vfs.NewMem(0)
		write(t, fs, "cluster.json", content+"\n")
		d, err := clusterdir.Open(t.Context(), fs, clusterdir.Options{})
		if err != nil {
			return
		}
		defer d.Close()
		if d.ClusterID() == "" {
			t.Fatalf("%q gave an empty cluster id", content)
		}
	})
}
