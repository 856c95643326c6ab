package vfstest

import (
	"errors"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func directoryTests() []test {
	return []test{
		{"a listing is sorted and complete", func(s *scene) {
			for _, name := range []string{"b", ".hidden", "a", "c.log"} {
				s.create(s.root, name, name)
			}
			s.ok(s.root.Mkdir("aa"))
			s.names(s.root, ".hidden", "a", "aa/", "b", "c.log")
		}},
		{"a listing leaves sizes out", func(s *scene) {
			s.create(s.root, "f", "content")
			entries, err := s.root.List()
			s.ok(err)
			if entries[0] != (vfs.Entry{Name: "f"}) {
				s.Fatalf("entry is %+v", entries[0])
			}
		}},
		{"a long listing", func(s *scene) {
			var want []string
			for first := byte('a'); first <= 'z'; first++ {
				for second := byte('a'); second <= 'z'; second++ {
					name := "00000000000000000000000000000000" + string([]byte{first, second})
					s.ok(s.root.Mkdir(name))
					want = append(want, name+"/")
				}
			}
			s.names(s.root, want...)
		}},
		{"a taken name", func(s *scene) {
			s.create(s.root, "f", "")
			s.ok(s.root.Mkdir("d"))
			for _, name := range []string{"f", "d"} {
				s.want(s.root.Mkdir(name), fs.ErrExist)
				_, err := s.root.Create(name)
				s.want(err, fs.ErrExist)
			}
		}},
		{"removal of a directory", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.create(dir, "f", "")
			s.want(s.root.Rmdir("d"), vfs.ErrNotEmpty)
			s.ok(dir.Remove("f"))
			s.ok(s.root.Rmdir("d"))
			s.want(s.root.Rmdir("d"), fs.ErrNotExist)
			s.names(s.root)
		}},
		{"removal minds the kind", func(s *scene) {
			s.create(s.root, "f", "")
			s.ok(s.root.Mkdir("d"))
			s.want(s.root.Rmdir("f"), syscall.ENOTDIR)
			s.want(s.root.Remove("d"), syscall.EISDIR)
			s.want(s.root.Remove("none"), fs.ErrNotExist)
		}},
		{"opening minds the kind", func(s *scene) {
			s.create(s.root, "f", "")
			s.ok(s.root.Mkdir("d"))
			_, err := s.root.Open("d")
			s.want(err, syscall.EISDIR)
			_, err = s.root.OpenWrite("d")
			s.want(err, syscall.EISDIR)
			_, err = s.root.OpenDir("f")
			s.want(err, syscall.ENOTDIR)
			_, err = s.root.Hold("f")
			s.want(err, syscall.ENOTDIR)
		}},
		{"missing names", missingNames},
		{"attributes", attributes},
		{"sync", func(s *scene) { s.ok(s.root.Sync()) }},
		{"paths of handles", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			if want := path.Join(s.root.Path(), "d"); dir.Path() != want {
				s.Fatalf("path is %q, want %q", dir.Path(), want)
			}
		}},
		{"a closed handle", closedDirectory},
		{"errors say operation and path", func(s *scene) {
			_, err := s.mkdir(s.root, "d").Open("none")
			var pathError *fs.PathError
			if !errors.As(err, &pathError) || pathError.Op != "open" || path.Base(pathError.Path) != "none" || path.Base(path.Dir(pathError.Path)) != "d" {
				s.Fatalf("error is %#v", err)
			}
		}},
	}
}

func missingNames(s *scene) {
	_, err := s.root.Open("none")
	s.want(err, fs.ErrNotExist)
	_, err = s.root.OpenWrite("none")
	s.want(err, fs.ErrNotExist)
	_, err = s.root.OpenDir("none")
	s.want(err, fs.ErrNotExist)
	_, err = s.root.Stat("none")
	s.want(err, fs.ErrNotExist)
	_, err = s.root.Hold("none")
	s.want(err, fs.ErrNotExist)
	s.want(s.root.Rename("none", "x"), fs.ErrNotExist)
	_, err = vfs.ReadFile(s.root, "none", 1)
	s.want(err, fs.ErrNotExist)
}

func attributes(s *scene) {
	s.create(s.root, "f", "content")
	s.ok(s.root.Mkdir("d"))
	file, err := s.root.Stat("f")
	s.ok(err)
	if file.Name != "f" || file.IsDir || file.Size != 7 || time.Since(file.ModTime).Abs() > time.Minute {
		s.Fatalf("file is %+v", file)
	}
	dir, err := s.root.Stat("d")
	s.ok(err)
	if dir.Name != "d" || !dir.IsDir || dir.Size != 0 || time.Since(dir.ModTime).Abs() > time.Minute {
		s.Fatalf("directory is %+v", dir)
	}
}

func closedDirectory(s *scene) {
	s.ok(s.root.Mkdir("d"))
	dir, err := s.root.OpenDir("d")
	s.ok(err)
	s.ok(dir.Close())
	_, err = dir.List()
	s.want(err, fs.ErrClosed)
	_, err = dir.Open("f")
	s.want(err, fs.ErrClosed)
	_, err = dir.Create("f")
	s.want(err, fs.ErrClosed)
	s.want(dir.Mkdir("e"), fs.ErrClosed)
	s.want(dir.Sync(), fs.ErrClosed)
	s.want(dir.Close(), fs.ErrClosed)
}

func removedTests() []test {
	return []test{
		{"names in a removed directory do not exist", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(s.root.Rmdir("d"))
			s.removed(dir)
		}},
		{"a directory made anew is another one", func(s *scene) {
			old := s.mkdir(s.root, "d")
			s.ok(s.root.Rmdir("d"))
			s.create(s.mkdir(s.root, "d"), "f", "new")
			s.removed(old)
			s.names(s.openDir("d"), "f")
		}},
		{"a handle follows a renamed directory", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(s.root.Rename("d", "e"))
			s.ok(s.root.Mkdir("d"))
			s.create(dir, "f", "")
			s.names(s.openDir("d"))
			s.names(s.openDir("e"), "f")
		}},
	}
}

func (s *scene) removed(dir vfs.Dir) {
	s.Helper()
	_, err := dir.List()
	s.want(err, fs.ErrNotExist)
	_, err = dir.Create("g")
	s.want(err, fs.ErrNotExist)
	_, err = dir.Open("f")
	s.want(err, fs.ErrNotExist)
	_, err = dir.Stat("f")
	s.want(err, fs.ErrNotExist)
	s.want(dir.Mkdir("g"), fs.ErrNotExist)
	s.want(dir.Rmdir("g"), fs.ErrNotExist)
	s.want(dir.Remove("f"), fs.ErrNotExist)
	s.want(dir.Rename("f", "g"), fs.ErrNotExist)
	_, err = dir.Hold("g")
	s.want(err, fs.ErrNotExist)
}
