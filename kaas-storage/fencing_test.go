package storage_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
	"github.com/kaas-rs/kaas/kaas-storage/vfs/fileserver"
)

// lenientFS is a file system whose claims and directories are not what they should be. A nil function changes nothing.
type lenientFS struct {
	vfs.FS
	check func(truth error) error
	mkdir func(truth func() error) error
	rmdir func(truth func() error) error
}

type lenientDir struct {
	vfs.Dir
	fs lenientFS
}

type lenientClaim struct {
	vfs.Claim
	fs lenientFS
}

func (f lenientFS) OpenDir(path string) (vfs.Dir, error) {
	d, err := f.FS.OpenDir(path)
	return lenientDir{d, f}, err
}

func (d lenientDir) Mkdir(name string) error {
	truth := func() error { return d.Dir.Mkdir(name) }
	if d.fs.mkdir != nil {
		return d.fs.mkdir(truth)
	}
	return truth()
}

func (d lenientDir) Rmdir(name string) error {
	truth := func() error { return d.Dir.Rmdir(name) }
	if d.fs.rmdir != nil {
		return d.fs.rmdir(truth)
	}
	return truth()
}

func (d lenientDir) Hold(name string) (vfs.Claim, error) {
	c, err := d.Dir.Hold(name)
	return lenientClaim{c, d.fs}, err
}

func (c lenientClaim) Check() error {
	err := c.Claim.Check()
	if c.fs.check != nil {
		return c.fs.check(err)
	}
	return err
}

func TestVolumeThatDoesNotFenceIsRefused(t *testing.T) {
	answer := func(err error) func(error) error { return func(error) error { return err } }
	for name, c := range map[string]struct {
		fs   lenientFS
		want error
	}{
		"honest":                   {lenientFS{}, nil},
		"removals are not noticed": {lenientFS{check: answer(nil)}, storage.ErrNotFencing},
		"everything looks removed": {lenientFS{check: answer(vfs.ErrUnlinked)}, storage.ErrNotFencing},
		"checks fail":              {lenientFS{check: answer(syscall.EIO)}, syscall.EIO},
		"a directory is made twice": {lenientFS{mkdir: func(truth func() error) error {
			if err := truth(); !errors.Is(err, fs.ErrExist) {
				return err
			}
			return nil
		}}, storage.ErrNotFencing},
		"directories cannot be made": {lenientFS{mkdir: func(func() error) error { return syscall.EROFS }}, syscall.EROFS},
	} {
		t.Run(name, func(t *testing.T) {
			c.fs.FS = vfs.NewMem(0)
			_, err := storage.OpenVolume(c.fs, storage.VolumeOptions{ClusterID: "c", ID: "v"})
			if !errors.Is(err, c.want) || errors.Is(err, storage.ErrNotFencing) != errors.Is(c.want, storage.ErrNotFencing) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if err != nil && errors.Is(err, storage.ErrNotFencing) && !strings.Contains(err.Error(), "NFS 4.1") {
				t.Errorf("%q does not say what to use", err)
			}
			names := listing(t, c.fs.FS)
			if len(names) > 1 || (len(names) == 1) != (err == nil) {
				t.Errorf("%v is in the volume; the stamp belongs there if it was opened, and nothing else", names)
			}
		})
	}
}

// A directory that cannot be removed again does not hide what was found, even where it looks like a full volume, which is opened all the same.
func TestVerdictOutlivesItsProbe(t *testing.T) {
	for name, failure := range map[string]error{"broken": syscall.EIO, "full": syscall.ENOSPC} {
		t.Run(name, func(t *testing.T) {
			volume := lenientFS{
				FS:    vfs.NewMem(0),
				check: func(error) error { return vfs.ErrUnlinked },
				rmdir: func(func() error) error { return failure },
			}
			_, err := storage.OpenVolume(volume, storage.VolumeOptions{ClusterID: "c", ID: "v"})
			if !errors.Is(err, storage.ErrNotFencing) || !errors.Is(err, failure) {
				t.Errorf("%v, want %v and %v", err, storage.ErrNotFencing, failure)
			}
		})
	}
}

func listing(t *testing.T, filesystem vfs.FS) []string {
	t.Helper()
	root, err := filesystem.OpenDir(".")
	must(t, err)
	defer root.Close()
	entries, err := root.List()
	must(t, err)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	return names
}

// What a crash in the middle of the trial leaves goes at a later opening, but not what another process may be trying.
func TestOldProbesAreRemoved(t *testing.T) {
	for name, filesystem := range map[string]vfs.FS{
		"memory":      vfs.NewMem(0),
		"file server": fileserver.New(fileserver.Policy{}).Client("client").Process("process"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root, err := filesystem.OpenDir(".")
				must(t, err)
				defer root.Close()
				must(t, root.Mkdir(".kaas-probe.old"))
				time.Sleep(2 * time.Hour)
				must(t, root.Mkdir(".kaas-probe.new"))
				must(t, storage.CheckFencing(root))
				if names := listing(t, filesystem); len(names) != 1 || names[0] != ".kaas-probe.new" {
					t.Errorf("%v is left", names)
				}
			})
		})
	}
}

// A volume that was too full to be tried when it was opened is tried before anything on it is led.
func TestFullVolumeIsTriedAtATakeover(t *testing.T) {
	f := newFaulty(16 << 20)
	lenient := lenientFS{FS: f, check: func(error) error { return nil }}
	b := newBench(t, f, storage.Options{})
	f.set(failing(vfs.OpMkdir, syscall.ENOSPC))
	volume, err := storage.OpenVolume(lenient, storage.VolumeOptions{ClusterID: "c", ID: "v"})
	must(t, err)
	take := func() error {
		_, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Volume: volume, Config: b.config})
		return err
	}
	if err := take(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("takeover on the full volume: %v", err)
	}
	f.clear()
	if err := take(); !errors.Is(err, storage.ErrNotFencing) {
		t.Errorf("takeover where there is room again: %v", err)
	}
	if _, err := f.OpenDir("p/leader.00000001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a claim was made: %v", err)
	}
}

// FuzzStamp opens a volume with any stamp: it is this one's, or the error says what it is.
func FuzzStamp(f *testing.F) {
	f.Add(`{"version":1,"clusterId":"c","volumeId":"v"}`)
	f.Add(`{"version":2,"clusterId":"c","volumeId":"v"}`)
	f.Add(`{"version":1,"clusterId":"c","volumeId":"w"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, content string) {
		memory := vfs.NewMem(0)
		root, err := memory.OpenDir(".")
		must(t, err)
		must(t, vfs.WriteFileAtomic(root, ".kaas-volume.json", []byte(content)))
		_, err = storage.OpenVolume(memory, storage.VolumeOptions{ClusterID: "c", ID: "v"})
		if err != nil && !isCorruption(err) && !errors.Is(err, storage.ErrFutureVersion) && !errors.Is(err, storage.ErrForeignVolume) && !errors.Is(err, vfs.ErrLimit) {
			t.Fatalf("undocumented error %v", err)
		}
		if kept, err := vfs.ReadFile(root, ".kaas-volume.json", 1<<20); err != nil || string(kept) != content {
			t.Fatalf("the stamp %q became %q, %v", content, kept, err)
		}
	})
}
