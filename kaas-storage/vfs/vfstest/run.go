package vfstest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// Run tests the file system that open makes, an empty one for each call. What
// open makes is closed by Run.
func Run(t *testing.T, open func(t *testing.T) vfs.FS) {
	t.Helper()
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"paths", pathTests()},
		{"directories", directoryTests()},
		{"removed directories", removedTests()},
		{"claims", claimTests()},
		{"parents of claims", parentTests()},
		{"renames", renameTests()},
		{"files", fileTests()},
		{"vectors", vectorTests()},
		{"atomic files", atomicTests()},
		{"concurrency", concurrencyTests()},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) {
					fsys := open(t)
					s := &scene{T: t, fs: fsys}
					s.root = s.openDir(".")
					t.Cleanup(func() { s.ok(fsys.Close()) })
					test.run(s)
				})
			}
		})
	}
}

// test is one named case.
type test struct {
	name string
	run  func(s *scene)
}

// scene is a file system under test with its opened root. Its methods end the
// test on an unexpected error.
type scene struct {
	*testing.T
	fs   vfs.FS
	root vfs.Dir
}

func (s *scene) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) want(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Fatalf("error is %v, want %v", err, target)
	}
}

func (s *scene) wantAny(err error) {
	s.Helper()
	if err == nil {
		s.Fatal("no error")
	}
}

func (s *scene) openDir(path string) vfs.Dir {
	s.Helper()
	dir, err := s.fs.OpenDir(path)
	s.ok(err)
	s.Cleanup(func() { dir.Close() })
	return dir
}

func (s *scene) mkdir(parent vfs.Dir, name string) vfs.Dir {
	s.Helper()
	s.ok(parent.Mkdir(name))
	dir, err := parent.OpenDir(name)
	s.ok(err)
	s.Cleanup(func() { dir.Close() })
	return dir
}

func (s *scene) hold(parent vfs.Dir, name string) vfs.Claim {
	s.Helper()
	claim, err := parent.Hold(name)
	s.ok(err)
	s.Cleanup(func() { claim.Close() })
	return claim
}

func (s *scene) parent(claim vfs.Claim) vfs.Dir {
	s.Helper()
	parent, err := claim.Parent()
	s.ok(err)
	s.Cleanup(func() { parent.Close() })
	return parent
}

func (s *scene) create(dir vfs.Dir, name, content string) vfs.File {
	s.Helper()
	file, err := dir.Create(name)
	s.ok(err)
	s.Cleanup(func() { file.Close() })
	n, err := file.WriteAt([]byte(content), 0)
	s.ok(err)
	if n != len(content) {
		s.Fatalf("%d bytes written, want %d", n, len(content))
	}
	return file
}

func (s *scene) open(dir vfs.Dir, name string) vfs.File {
	s.Helper()
	file, err := dir.Open(name)
	s.ok(err)
	s.Cleanup(func() { file.Close() })
	return file
}

func (s *scene) content(dir vfs.Dir, name, want string) {
	s.Helper()
	got, err := vfs.ReadFile(dir, name, 1<<30)
	s.ok(err)
	if string(got) != want {
		s.Fatalf("%s holds %.80q, want %.80q", name, got, want)
	}
}

func (s *scene) size(file vfs.File, want int64) {
	s.Helper()
	size, err := file.Size()
	s.ok(err)
	if size != want {
		s.Fatalf("size is %d, want %d", size, want)
	}
}

// names checks a listing, directories with a trailing slash.
func (s *scene) names(dir vfs.Dir, want ...string) {
	s.Helper()
	entries, err := dir.List()
	s.ok(err)
	got := []string{}
	for _, entry := range entries {
		if entry.IsDir {
			entry.Name += "/"
		}
		got = append(got, entry.Name)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Fatalf("listing is %q, want %q", got, want)
	}
}
