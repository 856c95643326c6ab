package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/go.mod", "module a\n")
	write(t, root, "a/log.go", "package a\n\ntype Log struct{ size int }\n\nfunc (l *Log) Append() {}\n\ntype Ring[T any] struct{}\n\nfunc (r *Ring[T]) Push() {}\n")
	write(t, root, "a/inner/inner.go", "package inner\n\nconst Limit = 1\n\ntype Store interface{ Get() }\n")
	write(t, root, "a/nested/go.mod", "module nested\n")
	write(t, root, "a/nested/nested.go", "package nested\n\nfunc Hidden() {}\n")
	write(t, root, "b/go.mod", "module b\n")
	write(t, root, "b/b.go", "package b\n\nfunc Call() {}\n")
	for _, c := range []struct {
		name, text string
		missing    []string
	}{
		{"everything exists", "`Log`, `Log.Append`, `Log.size`, `Ring.Push`, `a.Log`, `inner.Limit`, `inner.Store.Get`, `b.Call`, `log.go`, `inner/inner.go`, `inner/`", nil},
		{"prose", "`acks` of `/healthz`, `.index` and `leader.<epoch>`", nil},
		{"a member that is gone", "`Log.Close` and `Log.Append`", []string{"Log.Close"}},
		{"a file that is gone", "`gone.go`, `inner/gone.go`", []string{"gone.go", "inner/gone.go"}},
		{"a package's name is left out", "`Limit`, `Call`", []string{"Limit", "Call"}},
		{"nested modules are not looked at", "`nested.Hidden`", []string{"nested.Hidden"}},
		{"code blocks are not looked at", "```go\nx := `Gone`\n```\n`Log`", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, root, "a/DESIGN.md", c.text)
			missing, err := check(filepath.Join(root, "a"), []string{filepath.Join(root, "b")})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(missing, c.missing) {
				t.Errorf("missing %q, want %q", missing, c.missing)
			}
		})
	}
}

func TestCheckNeedsADocument(t *testing.T) {
	if _, err := check(t.TempDir(), nil); err == nil {
		t.Error("no error without a document")
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}
