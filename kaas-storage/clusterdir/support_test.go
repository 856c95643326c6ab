package clusterdir_test

import (
	"runtime"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/clusterdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// onEachFS runs a test in memory and on disk.
func onEachFS(t *testing.T, test func(t *testing.T, fs vfs.FS)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { test(t, vfs.NewMem(0)) })
	t.Run("disk", func(t *testing.T) { test(t, disk(t, t.TempDir())) })
}

func disk(t *testing.T, root string) vfs.FS {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("durable storage needs Linux")
	}
	fs, err := vfs.OS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fs.Close() })
	return fs
}

func open(t *testing.T, fs vfs.FS, o clusterdir.Options) *clusterdir.Dir {
	t.Helper()
	d, err := clusterdir.Open(t.Context(), fs, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func names(t *testing.T, fs vfs.FS, path string) []string {
	t.Helper()
	dir, err := fs.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name)
	}
	return all
}

func write(t *testing.T, fs vfs.FS, name, content string) {
	t.Helper()
	root, err := fs.OpenDir(".")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file, err := root.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte(content), 0); err != nil {
		t.Fatal(err)
	}
}
