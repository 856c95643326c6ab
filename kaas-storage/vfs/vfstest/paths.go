package vfstest

import (
	"io/fs"
	"strings"
	"syscall"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func pathTests() []test {
	return []test{
		{"a deep path is made and opened", func(s *scene) {
			s.ok(s.fs.MkdirAll("a/b/c"))
			s.names(s.openDir("a/b"), "c/")
			s.ok(s.fs.MkdirAll("a/b/d"))
			s.names(s.openDir("a/b"), "c/", "d/")
			s.ok(s.fs.MkdirAll("a/b/c"))
			s.ok(s.fs.MkdirAll("."))
		}},
		{"a missing path", func(s *scene) {
			_, err := s.fs.OpenDir("a/b")
			s.want(err, fs.ErrNotExist)
		}},
		{"a file on the path", func(s *scene) {
			s.create(s.root, "f", "")
			_, err := s.fs.OpenDir("f")
			s.want(err, syscall.ENOTDIR)
			s.want(s.fs.MkdirAll("f/g"), syscall.ENOTDIR)
		}},
		{"bad paths", func(s *scene) {
			for _, path := range []string{"", "/", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\x00b", `a\b`} {
				_, err := s.fs.OpenDir(path)
				s.want(err, vfs.ErrName)
				s.want(s.fs.MkdirAll(path), vfs.ErrName)
			}
			s.names(s.root)
		}},
		{"bad names", badNames},
		{"a long name", func(s *scene) {
			s.want(s.root.Mkdir(strings.Repeat("n", 256)), syscall.ENAMETOOLONG)
			s.ok(s.root.Mkdir(strings.Repeat("n", 255)))
		}},
		{"usage", func(s *scene) {
			usage, err := s.fs.Usage()
			s.ok(err)
			if usage.Total <= 0 || usage.Free < 0 || usage.Free > usage.Total {
				s.Fatalf("usage is %+v", usage)
			}
		}},
	}
}

func badNames(s *scene) {
	s.ok(s.root.Mkdir("good"))
	operations := map[string]func(name string) error{
		"OpenDir":   func(name string) error { _, err := s.root.OpenDir(name); return err },
		"Mkdir":     s.root.Mkdir,
		"Rmdir":     s.root.Rmdir,
		"Remove":    s.root.Remove,
		"Rename":    func(name string) error { return s.root.Rename(name, "x") },
		"Rename to": func(name string) error { return s.root.Rename("good", name) },
		"Create":    func(name string) error { _, err := s.root.Create(name); return err },
		"Open":      func(name string) error { _, err := s.root.Open(name); return err },
		"OpenWrite": func(name string) error { _, err := s.root.OpenWrite(name); return err },
		"Stat":      func(name string) error { _, err := s.root.Stat(name); return err },
		"Hold":      func(name string) error { _, err := s.root.Hold(name); return err },
		"atomic":    func(name string) error { return vfs.WriteFileAtomic(s.root, name, nil) },
		"ReadFile":  func(name string) error { _, err := vfs.ReadFile(s.root, name, 1); return err },
	}
	for operation, call := range operations {
		for _, name := range []string{"", ".", "..", "a/b", "/", "good/", `a\b`, "a\x00"} {
			err := call(name)
			if err == nil {
				s.Errorf("%s accepts %q", operation, name)
				continue
			}
			s.want(err, vfs.ErrName)
		}
	}
	s.names(s.root, "good/")
}
