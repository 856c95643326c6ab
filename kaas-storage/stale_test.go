package storage_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// stale answers as NFS does where a local disk says that a name does not exist: ESTALE.
func stale(kinds ...vfs.OpKind) vfs.Hook {
	return func(op vfs.Op) error {
		for _, kind := range kinds {
			if op.Kind == kind && !op.After {
				return syscall.ESTALE
			}
		}
		return nil
	}
}

func TestStaleDirectoryIsADeletedOne(t *testing.T) {
	f := newFaulty(1 << 20)
	b := newBench(t, f, storage.Options{})
	f.set(stale(vfs.OpList))
	if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !errors.Is(err, storage.ErrDeleted) {
		t.Errorf("takeover: %v", err)
	}
	f.clear()
	f.set(stale(vfs.OpHold))
	if _, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config}); !errors.Is(err, storage.ErrFenced) {
		t.Errorf("takeover whose claim was removed at once: %v", err)
	}
}

func TestHandoverOfAStaleClaim(t *testing.T) {
	f := newFaulty(1 << 20)
	b := newBench(t, f, storage.Options{})
	p := b.take()
	f.set(stale(vfs.OpRmdir))
	must(t, p.Handover(context.Background()))
}

func TestDestroyerOfAStaleDirectory(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpMkdir, vfs.OpList, vfs.OpRemove, vfs.OpRmdir} {
		t.Run(kind.String(), func(t *testing.T) {
			f := newFaulty(1 << 20)
			b := newBench(t, f, storage.Options{})
			root, err := f.OpenDir(".")
			must(t, err)
			defer root.Close()
			done := false
			f.set(func(op vfs.Op) error {
				if done || op.Kind != kind || op.After {
					return nil
				}
				done = true
				must(t, storage.DestroyPartition(context.Background(), root, "p")) // somebody else finishes it
				return syscall.ESTALE
			})
			must(t, storage.DestroyPartition(context.Background(), root, "p"))
			if _, err := b.fs.OpenDir("p"); err == nil {
				t.Error("the directory is still there")
			}
		})
	}
}

// A reader that hangs in opening a file holds nobody up who only has to know of the file.
func TestHungReaderBlocksNoRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(1 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		p := b.take()
		appendDurable(t, p, records(t, "a", 3, 1))
		must(t, p.Handover(context.Background()))
		p = b.take()
		release := make(chan struct{})
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpOpen && !op.After {
				<-release
			}
			return nil
		})
		read := make(chan error, 1)
		go func() {
			section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1000})
			if section != nil {
				section.Release()
			}
			read <- err
		}()
		synctest.Wait()
		if start, err := p.DeleteRecords(context.Background(), -1); err != nil || start != 3 {
			t.Errorf("delete records: %d, %v", start, err)
		}
		close(release)
		must(t, <-read)
		synctest.Wait()
		if logs := b.logs(); len(logs) != 0 {
			t.Errorf("left: %v", logs)
		}
	})
}
