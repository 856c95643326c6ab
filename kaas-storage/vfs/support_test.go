package vfs_test

import (
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openDir(t testing.TB, fsys vfs.FS, path string) vfs.Dir {
	t.Helper()
	dir, err := fsys.OpenDir(path)
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir
}

func read(t testing.TB, dir vfs.Dir, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(dir, name, 1<<30)
	must(t, err)
	return string(data)
}

// create makes a file with unsynced content.
func create(t testing.TB, dir vfs.Dir, name, content string) vfs.File {
	t.Helper()
	file, err := dir.Create(name)
	must(t, err)
	t.Cleanup(func() { file.Close() })
	_, err = file.WriteAt([]byte(content), 0)
	must(t, err)
	return file
}

func used(t testing.TB, fsys vfs.FS) int64 {
	t.Helper()
	usage, err := fsys.Usage()
	must(t, err)
	return usage.Total - usage.Free
}
