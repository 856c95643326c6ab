package vfstest

import (
	"io/fs"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func claimTests() []test {
	return []test{
		{"a claim holds while its directory is linked", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			claim := s.hold(s.root, "c")
			s.ok(claim.Check())
			s.ok(claim.Check())
		}},
		{"a removal is noticed", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			claim, other := s.hold(s.root, "c"), s.hold(s.root, "c")
			s.ok(s.root.Rmdir("c"))
			s.want(claim.Check(), vfs.ErrUnlinked)
			s.want(other.Check(), vfs.ErrUnlinked)
		}},
		{"a directory of the same name does not help", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			claim := s.hold(s.root, "c")
			s.ok(s.root.Rmdir("c"))
			s.ok(s.root.Mkdir("c"))
			s.want(claim.Check(), vfs.ErrUnlinked)
			s.ok(s.hold(s.root, "c").Check())
		}},
		{"a rename keeps the claim", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			claim := s.hold(s.root, "c")
			s.ok(s.root.Rename("c", "d"))
			s.ok(claim.Check())
			s.ok(s.root.Mkdir("e"))
			s.ok(s.root.Rename("e", "d"))
			s.want(claim.Check(), vfs.ErrUnlinked)
		}},
		{"a claim outlives the handle it was opened from", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(dir.Mkdir("c"))
			claim := s.hold(dir, "c")
			s.ok(dir.Close())
			s.ok(claim.Check())
			s.ok(s.openDir("d").Rmdir("c"))
			s.want(claim.Check(), vfs.ErrUnlinked)
		}},
		{"a closed claim is not unlinked", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			claim := s.hold(s.root, "c")
			s.ok(claim.Close())
			s.want(claim.Check(), fs.ErrClosed)
			_, err := claim.Parent()
			s.want(err, fs.ErrClosed)
		}},
	}
}

func parentTests() []test {
	return []test{
		{"it is the directory of the claim, to read and to change", func(s *scene) {
			dir := s.mkdir(s.mkdir(s.root, "above"), "d")
			s.ok(dir.Mkdir("c"))
			claim := s.hold(dir, "c")
			s.create(dir, "f", "x")
			path := dir.Path()
			s.ok(dir.Close())
			parent := s.parent(claim)
			if parent.Path() != path {
				s.Fatalf("the path is %q, want %q", parent.Path(), path)
			}
			s.content(parent, "f", "x")
			s.create(parent, "g", "y")
			s.ok(parent.Sync())
			s.names(s.openDir("above/d"), "c/", "f", "g")
			s.ok(parent.Close())
			s.ok(claim.Check())
			s.names(s.parent(claim), "c/", "f", "g")
		}},
		{"of a claim in the root it is the root", func(s *scene) {
			s.ok(s.root.Mkdir("c"))
			s.names(s.parent(s.hold(s.root, "c")), "c/")
		}},
		{"renames do not redirect it", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(dir.Mkdir("c"))
			claim := s.hold(dir, "c")
			s.ok(dir.Close())
			s.ok(s.root.Rename("d", "moved"))
			other := s.mkdir(s.root, "d")
			s.ok(other.Mkdir("c"))
			s.create(s.parent(claim), "f", "")
			s.names(other, "c/")
			s.names(s.openDir("moved"), "c/", "f")
			s.ok(s.openDir("moved").Rename("c", "e"))
			s.names(s.parent(claim), "e/", "f")
		}},
		{"after the removal of the claim there is none", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(dir.Mkdir("c"))
			claim := s.hold(dir, "c")
			s.ok(dir.Rmdir("c"))
			s.ok(dir.Mkdir("c"))
			_, err := claim.Parent()
			s.want(err, vfs.ErrUnlinked)
		}},
		{"nor after the removal of both", func(s *scene) {
			dir := s.mkdir(s.root, "d")
			s.ok(dir.Mkdir("c"))
			claim := s.hold(dir, "c")
			s.ok(dir.Rmdir("c"))
			s.ok(s.root.Rmdir("d"))
			_, err := claim.Parent()
			s.want(err, vfs.ErrUnlinked)
		}},
	}
}

func renameTests() []test {
	return []test{
		{"onto a file", func(s *scene) {
			s.create(s.root, "old", "o")
			replaced := s.create(s.root, "new", "n")
			s.ok(s.root.Rename("old", "new"))
			s.names(s.root, "new")
			s.content(s.root, "new", "o")
			s.size(replaced, 1)
		}},
		{"onto itself", func(s *scene) {
			s.create(s.root, "f", "x")
			s.ok(s.root.Rename("f", "f"))
			s.content(s.root, "f", "x")
		}},
		{"kinds", func(s *scene) {
			s.create(s.root, "f", "")
			s.create(s.mkdir(s.root, "full"), "x", "")
			s.ok(s.root.Mkdir("empty"))
			s.wantAny(s.root.Rename("f", "empty"))
			s.wantAny(s.root.Rename("empty", "f"))
			s.wantAny(s.root.Rename("empty", "full"))
			s.ok(s.root.Rename("full", "empty"))
			s.names(s.root, "empty/", "f")
			s.names(s.openDir("empty"), "x")
		}},
	}
}
