package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// failureModes are what a file call can do wrong.
var failureModes = []struct {
	name  string
	after bool // the call has happened, and reports an error all the same
	err   error
	takes time.Duration
}{
	{"fails", false, syscall.EIO, 0},
	{"reports a failure", true, syscall.EIO, 0},
	{"finds the disk full", false, syscall.ENOSPC, 0},
	{"is cut short", false, vfs.ErrShortWrite{N: 20, Err: syscall.EIO}, 0},
	{"is cut short by a full disk", false, vfs.ErrShortWrite{N: 70, Err: syscall.ENOSPC}, 0},
	{"is slow", false, nil, 20 * time.Second},
	{"hangs and happens late", false, nil, time.Hour},
	{"happens and hangs", true, nil, time.Hour},
	{"hangs and fails", false, syscall.EIO, time.Hour},
}

// A file call that fails, whichever it is, ends a leadership at most: the next one has every promise, and works.
func TestFailureAtEveryCall(t *testing.T) {
	failAtEveryCall(t, newLedger, storage.DefaultConfig(), (*ledger).steps)
}

func failAtEveryCall(t *testing.T, ledgerOf func() *ledger, config storage.Config, steps func(*ledger) []workStep) {
	config.SegmentBytes, config.IndexInterval, config.RetentionAge = 200, 1, -1
	eachFailure(t, func(memory *vfs.Crash, filesystem vfs.FS, takes time.Duration) error {
		l := ledgerOf()
		if err := work(filesystem, l, config, steps(l)); err != nil {
			return err
		}
		if err := l.verify(memory, config); err != nil || takes == 0 {
			return err
		}
		time.Sleep(2 * takes) // once more when what was late has happened
		return l.verify(memory, config)
	})
}

// A deletion that a file call ends can be finished by anybody, and one that is acknowledged has left nothing.
func TestFailureAtEveryCallOfDeletion(t *testing.T) {
	config := storage.DefaultConfig()
	config.SegmentBytes = 200
	eachFailure(t, func(memory *vfs.Crash, filesystem vfs.FS, _ time.Duration) error {
		l := newLedger()
		if err := work(memory, l, config, []workStep{l.step, handoverStep, l.step, l.step}); err != nil {
			return err
		}
		root, err := filesystem.OpenDir(".")
		if err != nil {
			return nil // nothing has begun
		}
		defer root.Close()
		l.deleting = true
		err = storage.DestroyPartition(context.Background(), root, "p")
		if dir, found := memory.OpenDir("p"); err == nil && found == nil {
			return errors.Join(fmt.Errorf("%s is left", dir.Path()), dir.Close())
		}
		return l.verify(memory, config)
	})
}

// eachFailure makes a run for each file call and each way in which it can go wrong. takes is how long the call is late.
func eachFailure(t *testing.T, run func(memory *vfs.Crash, filesystem vfs.FS, takes time.Duration) error) {
	for _, mode := range failureModes {
		t.Run(mode.name, func(t *testing.T) {
			step := int64(1)
			if testing.Short() {
				step = 4
			}
			for n := int64(1); ; n += step {
				reached := false
				synctest.Test(t, func(t *testing.T) {
					var calls atomic.Int64
					memory := vfs.NewCrash(64 << 20) // for it is written ahead of batches, as a disk is
					filesystem := vfs.NewFault(memory, func(op vfs.Op) error {
						if op.After == mode.after && calls.Add(1) == n {
							time.Sleep(mode.takes)
							return mode.err
						}
						return nil
					})
					if err := run(memory, filesystem, mode.takes); err != nil {
						t.Errorf("call %d %s: %v", n, mode.name, err)
					}
					reached = calls.Load() >= n
				})
				if t.Failed() {
					return
				}
				if !reached {
					t.Logf("fewer than %d calls", n)
					break
				}
			}
		})
	}
}

// work leads a partition through all that the engine does, and takes it anew after each error. It gives up when that does not help.
func work(filesystem vfs.FS, l *ledger, config storage.Config, steps []workStep) error {
	engine, err := storage.NewEngine(storage.Options{RetentionInterval: time.Minute, CompactionInterval: -1})
	if err != nil {
		return err
	}
	defer engine.Close()
	if err := create(filesystem); err != nil {
		err = create(filesystem)
		if err != nil {
			return fmt.Errorf("create again: %w", err)
		}
	}
	l.exists = true
	var p *storage.Partition
	for i, failures := 0, 0; i < len(steps); {
		err := error(nil)
		if p == nil {
			p, err = takeFrom(engine, filesystem, config)
		}
		if err == nil {
			err = steps[i](p, i)
			i++
		}
		if err == nil && p.Err() == nil {
			continue
		}
		if err != nil && !errors.Is(err, storage.ErrClosed) {
			if failures++; failures > 3 {
				return fmt.Errorf("step %d fails again and again: %w", i, err)
			}
		}
		if p != nil {
			p.Abandon()
			if !errors.Is(p.Err(), storage.ErrStalled) {
				<-p.Closed()
			}
			p = nil
		}
	}
	return nil
}

// workStep is something that a leader does.
type workStep func(p *storage.Partition, step int) error

func (l *ledger) steps() []workStep {
	return []workStep{
		l.step, l.beginStep, idleStep, l.step, l.endStep, l.deleteStep, l.beginStep, handoverStep, l.step, l.endStep, handoverStep, l.step, l.deleteStep, idleStep, l.step,
		l.retainStep, l.step,
	}
}

func (l *ledger) step(p *storage.Partition, step int) error {
	tag := fmt.Sprintf("s%d.%d", step, p.Epoch())
	b, err := build(tag, 2, 1000)
	if l.gone != nil {
		b, err = buildKeyed(tag, "k1", "k2")
	}
	if err != nil {
		return err
	}
	return l.write(p, b)
}

// beginStep begins a transaction of a producer of its own.
func (l *ledger) beginStep(p *storage.Partition, step int) error {
	return l.begin(p, int64(p.Epoch())*100+int64(step))
}

// endStep aborts what is open.
func (l *ledger) endStep(p *storage.Partition, _ int) error {
	for id := range l.transactions.open {
		if err := l.end(p, id, 1, false); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) deleteStep(p *storage.Partition, _ int) error {
	return l.deleteRecords(p, p.Offsets().HighWatermark/2)
}

// retainStep lets retention by size move the log start. A pass that fails is followed by another.
func (l *ledger) retainStep(p *storage.Partition, _ int) error {
	before, config := p.Offsets(), p.Config()
	l.mu.Lock()
	l.startAsk = max(l.startAsk, before.HighWatermark)
	l.mu.Unlock()
	retaining := config
	retaining.RetentionBytes = 0
	p.SetConfig(retaining)
	time.Sleep(150 * time.Second)
	p.SetConfig(config)
	if err := p.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start = p.Offsets().LogStart
	if l.start <= before.LogStart {
		return fmt.Errorf("retention leaves the log start at %d, offsets %+v", l.start, before)
	}
	return nil
}

func handoverStep(p *storage.Partition, _ int) error { return p.Handover(context.Background()) }

func idleStep(p *storage.Partition, _ int) error {
	time.Sleep(20 * time.Second)
	return p.Err()
}
