package storage_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// takeWith takes the partition over and notes why the leadership ended.
func (b *bench) takeWith(ended *atomic.Pointer[error]) *storage.Partition {
	b.t.Helper()
	p, err := b.engine.Take(context.Background(), b.dir(), storage.TakeOptions{Label: "p", Config: b.config, Ended: func(err error) { ended.Store(&err) }})
	must(b.t, err)
	return p
}

// at returns a hook that calls f once, after the first operation that match holds for.
func at(match func(vfs.Op) bool, f func()) vfs.Hook {
	var called atomic.Bool
	return func(op vfs.Op) error {
		if match(op) && called.CompareAndSwap(false, true) {
			f()
		}
		return nil
	}
}

func claimRemoved(op vfs.Op) bool {
	return op.Kind == vfs.OpRmdir && strings.HasPrefix(op.Name, "leader.") && op.After
}

// A claim that is gone because its holder gave it up must not look like a fence: in single mode that ends the process.
func TestHandoverIsNoFence(t *testing.T) {
	cases := map[string]func(p *storage.Partition) error{
		"check":          func(p *storage.Partition) error { return p.Confirm(context.Background(), time.Now()) },
		"delete records": func(p *storage.Partition) error { _, err := p.DeleteRecords(context.Background(), 1); return err },
		"append": func(p *storage.Partition) error {
			_, err := p.Append(records(t, "late", 1, 1), storage.AppendOptions{})
			return err
		},
	}
	for name, during := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFaulty(16 << 20)
			b := newBench(t, f, storage.Options{RetentionInterval: -1})
			var ended atomic.Pointer[error]
			p := b.takeWith(&ended)
			appendDurable(t, p, records(t, "a", 3, 1000))
			result := make(chan error, 1)
			f.set(at(claimRemoved, func() { result <- during(p) }))
			must(t, p.Handover(context.Background()))
			if err := <-result; !errors.Is(err, storage.ErrClosed) {
				t.Errorf("during the handover: %v", err)
			}
			if why := ended.Load(); why != nil {
				t.Errorf("leadership ended with %v", *why)
			}
		})
	}
}

// What waits behind a handover for its turn must not write with a claim that was given up.
func TestDeleteRecordsBehindAHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		var ended atomic.Pointer[error]
		p := b.takeWith(&ended)
		appendDurable(t, p, records(t, "a", 3, 1000))
		result := make(chan error, 1)
		f.set(at(func(op vfs.Op) bool { return op.Kind == vfs.OpRename }, func() {
			go func() {
				_, err := p.DeleteRecords(context.Background(), 1)
				result <- err
			}()
			time.Sleep(time.Second)
		}))
		must(t, p.Handover(context.Background()))
		if err := <-result; !errors.Is(err, storage.ErrClosed) {
			t.Errorf("delete records: %v", err)
		}
		if why := ended.Load(); why != nil {
			t.Errorf("leadership ended with %v", *why)
		}
	})
}

func TestWaitsEndWithTheirContextOnAHungVolume(t *testing.T) {
	cases := map[string]func(ctx context.Context, p *storage.Partition) error{
		"handover":       func(ctx context.Context, p *storage.Partition) error { return p.Handover(ctx) },
		"delete records": func(ctx context.Context, p *storage.Partition) error { _, err := p.DeleteRecords(ctx, 1); return err },
		"confirm":        func(ctx context.Context, p *storage.Partition) error { return p.Confirm(ctx, time.Now()) },
		"lookup": func(ctx context.Context, p *storage.Partition) error {
			_, err := p.OffsetForTimestamp(ctx, 1000, 3)
			return err
		},
		"largest timestamp": func(ctx context.Context, p *storage.Partition) error {
			_, err := p.MaxTimestampOffset(ctx, 3)
			return err
		},
	}
	for name, wait := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaulty(16 << 20)
				b := newBench(t, f, storage.Options{RetentionInterval: -1})
				p := b.take()
				appendDurable(t, p, records(t, "a", 3, 1000))
				release := make(chan struct{})
				f.set(func(op vfs.Op) error {
					if !op.After && op.Kind != vfs.OpCloseFile && op.Kind != vfs.OpCloseClaim && op.Kind != vfs.OpCloseDir {
						<-release
					}
					return nil
				})
				defer close(release)
				time.Sleep(time.Second) // away from the check of the append
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				defer cancel()
				began := time.Now()
				if err := wait(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("error %v", err)
				}
				if waited := time.Since(began); waited != 3*time.Second {
					t.Fatalf("came back after %v", waited)
				}
			})
		})
	}
}

// The second waiter has its turn behind the first, whose file call hangs.
func TestWaitingForAHungMaintenanceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{RetentionInterval: -1})
		p := b.take()
		appendDurable(t, p, records(t, "a", 3, 1000))
		release := make(chan struct{})
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpRename && !op.After {
				<-release
			}
			return nil
		})
		defer close(release)
		first := make(chan error, 1)
		go func() {
			_, err := p.DeleteRecords(context.Background(), 1)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if _, err := p.DeleteRecords(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("second: %v", err)
		}
		if err := <-first; !errors.Is(err, storage.ErrStalled) {
			t.Fatalf("first: %v", err)
		}
	})
}

// An error behind the first write ends the epoch even if nobody waits for the outcome any more.
func TestAFailedManifestEndsTheEpochOfACancelledRequest(t *testing.T) {
	f := newFaulty(16 << 20)
	b := newBench(t, f, storage.Options{RetentionInterval: -1})
	p := b.take()
	appendDurable(t, p, records(t, "a", 3, 1000))
	ctx, cancel := context.WithCancel(context.Background())
	f.set(func(op vfs.Op) error {
		if op.Kind == vfs.OpRename {
			cancel()
			return syscall.EIO
		}
		return nil
	})
	_, err := p.DeleteRecords(ctx, 1)
	if err == nil {
		t.Fatal("no error")
	}
	<-p.Done() // the request may have been canceled before the error came back
	if !errors.Is(p.Err(), syscall.EIO) {
		t.Fatalf("leadership ended with %v", p.Err())
	}
	f.clear()
}
