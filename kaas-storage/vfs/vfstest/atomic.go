package vfstest

import "github.com/kaas-rs/kaas/kaas-storage/vfs"

func atomicTests() []test {
	return []test{
		{"a new file", func(s *scene) {
			s.ok(vfs.WriteFileAtomic(s.root, "f", []byte("one")))
			s.names(s.root, "f")
			s.content(s.root, "f", "one")
		}},
		{"replaces a file", func(s *scene) {
			reader := s.create(s.root, "f", "older and longer")
			s.ok(vfs.WriteFileAtomic(s.root, "f", []byte("two")))
			s.names(s.root, "f")
			s.content(s.root, "f", "two")
			s.size(reader, 16)
		}},
		{"empty", func(s *scene) {
			s.ok(vfs.WriteFileAtomic(s.root, "f", nil))
			s.content(s.root, "f", "")
		}},
		{"does not replace a directory", func(s *scene) {
			s.ok(s.root.Mkdir("d"))
			s.wantAny(vfs.WriteFileAtomic(s.root, "d", []byte("x")))
			s.names(s.root, "d/")
		}},
		{"reading has a limit", func(s *scene) {
			s.create(s.root, "f", "12345")
			_, err := vfs.ReadFile(s.root, "f", 4)
			s.want(err, vfs.ErrLimit)
			got, err := vfs.ReadFile(s.root, "f", 5)
			s.ok(err)
			if string(got) != "12345" {
				s.Fatalf("read %q", got)
			}
		}},
	}
}
