package fileserver_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// pair is one directory as processes of two clients see it.
type pair struct {
	*testing.T
	server *fileserver.Server
	a, b   vfs.Dir
	second vfs.Dir // another process of the first client
}

func newPair(t *testing.T, policy fileserver.Policy) *pair {
	t.Helper()
	p := &pair{T: t, server: fileserver.New(policy)}
	one := p.server.Client("one")
	p.a, p.second, p.b = p.root(one.Process("a")), p.root(one.Process("second")), p.root(p.server.Client("two").Process("b"))
	return p
}

func (p *pair) root(fsys vfs.FS) vfs.Dir {
	p.Helper()
	dir, err := fsys.OpenDir(".")
	p.ok(err)
	return dir
}

func (p *pair) ok(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *pair) want(err, target error) {
	p.Helper()
	if !errors.Is(err, target) {
		p.Fatalf("error is %v, want %v", err, target)
	}
}

func (p *pair) write(dir vfs.Dir, name, content string) vfs.File {
	p.Helper()
	file, err := dir.Create(name)
	p.ok(err)
	_, err = file.WriteAt([]byte(content), 0)
	p.ok(err)
	return file
}

func (p *pair) content(dir vfs.Dir, name, want string) {
	p.Helper()
	got, err := vfs.ReadFile(dir, name, 1<<20)
	p.ok(err)
	if string(got) != want {
		p.Fatalf("%s holds %q, want %q", name, got, want)
	}
}

func (p *pair) size(dir vfs.Dir, name string, want int64) {
	p.Helper()
	entry, err := dir.Stat(name)
	p.ok(err)
	if entry.Size != want {
		p.Fatalf("size of %s is %d, want %d", name, entry.Size, want)
	}
}

func nothing(fileserver.Change) bool { return false }

func TestAnotherClientsSyncMakesNothingDurable(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	p.write(p.a, "f", "data")
	p.content(p.b, "f", "data")
	file, err := p.b.Open("f")
	p.ok(err)
	p.ok(file.Sync())
	p.ok(p.b.Sync()) // the name, whoever made it
	p.server.Crash(nothing)
	p.content(p.b, "f", "")
}

func TestWhatAClientStillHasIsSentAgain(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	file := p.write(p.a, "f", "data")
	p.ok(p.a.Sync())
	p.server.Crash(nothing)
	p.ok(file.Sync())
	p.server.Crash(nothing)
	p.content(p.b, "f", "data")
}

func TestALostEntryIsReported(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	file := p.write(p.a, "f", "data")
	p.server.Crash(nothing)
	p.want(file.Sync(), syscall.ESTALE)
	p.want(p.a.Sync(), syscall.EIO)
	p.ok(p.a.Sync())
	p.ok(p.b.Sync())
}

func TestDelayedWrites(t *testing.T) {
	p := newPair(t, fileserver.Policy{Delay: always})
	file := p.write(p.a, "f", "data")
	p.content(p.a, "f", "data")
	p.content(p.b, "f", "")
	p.ok(file.Close())
	p.content(p.b, "f", "data")
}

func TestStaleAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, fileserver.Policy{Stale: always, Attributes: always})
		file := p.write(p.a, "f", "data")
		_, err := p.b.List()
		p.ok(err)
		_, err = file.WriteAt([]byte("more"), 4)
		p.ok(err)
		p.size(p.b, "f", 4)
		p.content(p.b, "f", "datamore") // opening asks
		p.size(p.b, "f", 8)
		_, err = file.WriteAt([]byte("most"), 8)
		p.ok(err)
		p.size(p.b, "f", 8)
		time.Sleep(fileserver.CacheLifetime)
		p.size(p.b, "f", 12)
	})
}

func TestStaleNames(t *testing.T) {
	p := newPair(t, fileserver.Policy{Stale: always})
	_, err := p.b.Open("f")
	p.want(err, fs.ErrNotExist)
	p.write(p.a, "f", "data")
	_, err = p.b.Open("f")
	p.want(err, fs.ErrNotExist)
	_, err = p.b.List()
	p.ok(err)
	p.content(p.b, "f", "data")
}

func TestRemovedElsewhere(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	p.ok(p.a.Mkdir("d"))
	mine, err := p.a.OpenDir("d")
	p.ok(err)
	theirs, err := p.b.OpenDir("d")
	p.ok(err)
	held, err := p.b.Hold("d")
	p.ok(err)
	file := p.write(p.b, "f", "data")
	p.ok(p.a.Rmdir("d"))
	p.ok(p.a.Remove("f"))
	_, err = mine.List()
	p.want(err, fs.ErrNotExist)
	_, err = theirs.List()
	p.want(err, syscall.ESTALE)
	p.want(held.Check(), vfs.ErrUnlinked)
	_, err = file.WriteAt([]byte("x"), 0)
	p.want(err, syscall.ESTALE)
}

func TestAFileThatAnotherProcessHasOpenIsRenamed(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	p.ok(p.a.Mkdir("d"))
	mine, err := p.a.OpenDir("d")
	p.ok(err)
	other, err := p.second.OpenDir("d")
	p.ok(err)
	file := p.write(other, "f", "data")
	p.ok(mine.Remove("f"))
	entries, err := mine.List()
	p.ok(err)
	if len(entries) != 1 || entries[0].Name[:4] != ".nfs" {
		t.Fatalf("entries are %v", entries)
	}
	p.want(p.a.Rmdir("d"), vfs.ErrNotEmpty)
	p.ok(file.Close())
	p.ok(p.a.Rmdir("d"))
}

func TestClaimsSurviveACrash(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	p.ok(p.a.Mkdir("kept"))
	p.ok(p.a.Sync())
	p.ok(p.a.Mkdir("lost"))
	kept, err := p.a.Hold("kept")
	p.ok(err)
	lost, err := p.a.Hold("lost")
	p.ok(err)
	p.ok(p.b.Rmdir("kept"))
	p.want(kept.Check(), vfs.ErrUnlinked)
	p.server.Crash(nothing) // undoes the removal, too
	p.ok(kept.Check())
	p.want(lost.Check(), vfs.ErrUnlinked)
}

func TestHalfOfAWriteSurvives(t *testing.T) {
	p := newPair(t, fileserver.Policy{})
	p.write(p.a, "f", "data")
	p.server.Crash(func(c fileserver.Change) bool { return c.Entry() || c.Offset > 0 })
	p.content(p.a, "f", "\x00\x00ta")
}
