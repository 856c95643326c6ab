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

// A server tells of a lost name once. If that is when a commit syncs the directory, the manifest that was renamed before must not count as durable.
func TestFailedDirectorySyncConcernsTheManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		b.config.SegmentBytes = 1
		p := b.take()
		for _, tag := range []string{"a", "b"} {
			appendDurable(t, p, records(t, tag, 1, 1000))
		}
		manifest, directory, syncs := make(chan struct{}), make(chan struct{}), 0
		f.set(func(op vfs.Op) error {
			switch {
			case op.Kind == vfs.OpRename && !op.After:
				<-manifest
			case op.Kind == vfs.OpSyncDir && !op.After:
				if syncs++; syncs == 1 {
					<-directory
					return syscall.EIO
				}
			}
			return nil
		})
		deleted := make(chan error, 1)
		go func() {
			_, err := p.DeleteRecords(context.Background(), 1)
			deleted <- err
		}()
		synctest.Wait()
		ticket, err := p.Append(records(t, "c", 1, 1000), storage.AppendOptions{})
		must(t, err)
		synctest.Wait() // the commit syncs the directory, because of its new segment
		close(manifest)
		synctest.Wait()
		close(directory)
		if err := <-deleted; !errors.Is(err, syscall.EIO) {
			t.Errorf("deletion of records: %v", err)
		}
		if err := ticket.WaitDurable(context.Background()); !errors.Is(err, syscall.EIO) {
			t.Errorf("append: %v", err)
		}
		if o := p.Offsets(); o.LogStart != 0 {
			t.Errorf("offsets %+v", o)
		}
	})
}
