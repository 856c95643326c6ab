package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// worker is the holder's process: it does what the taker asks for, and is the one that is frozen.
type worker struct {
	disk   vfs.FS
	path   string // of the meeting's directory
	dir    vfs.Dir
	claim  vfs.Claim
	freeze io.Writer // a line on it asks for being stopped
}

// pulseName is the file by which the taker sees that the holder is alive.
const pulseName = "pulse"

// pulsesBeforeFreeze is how many records are acknowledged before the holder asks to be frozen.
const pulsesBeforeFreeze = 10

// work serves requests until it is told to quit.
func (w *worker) work(ctx context.Context, m *mailbox) error {
	defer func() {
		if w.claim != nil {
			_ = w.claim.Close()
		}
	}()
	for {
		r, err := m.next(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		answer, err := w.do(ctx, r)
		answer.Took = time.Since(began)
		if err != nil {
			answer.Error = err.Error()
			answer.Unlinked = errors.Is(err, vfs.ErrUnlinked)
			answer.Fenced = errors.Is(err, storage.ErrFenced)
		}
		if err := m.answer(answer); err != nil {
			return err
		}
		if r.Op == "quit" {
			return nil
		}
	}
}

func (w *worker) do(ctx context.Context, r request) (answer reply, err error) {
	switch r.Op {
	case "hello":
		answer.Host, err = os.Hostname()
		answer.Host = fmt.Sprintf("%s, process %d", answer.Host, os.Getpid())
	case "trial":
		err = storage.CheckFencing(w.dir)
	case "race":
		answer.Names, err = raceFor(w.dir, r.Name, r.Count)
	case "hold":
		if w.claim != nil {
			_ = w.claim.Close()
		}
		if w.claim, err = w.dir.Hold(r.Name); err == nil {
			err = w.claim.Check()
		}
	case "check":
		err = w.claim.Check()
	case "parent":
		var parent vfs.Dir
		if parent, err = w.claim.Parent(); err == nil {
			err = parent.Close()
		}
	case "write":
		err = writeFile(w.dir, r.Name, r.Count)
	case "lead":
		return w.lead(ctx, r.Freeze)
	case "quit":
	default:
		err = fmt.Errorf("unknown request %q: both sides must be the same version", r.Op)
	}
	return answer, err
}

// raceFor makes as many directories as it can before the other side does.
func raceFor(dir vfs.Dir, prefix string, count int) (won []string, err error) {
	for i := range count {
		name := fmt.Sprintf("%s%04d", prefix, i)
		err := dir.Mkdir(name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return won, err
		}
		won = append(won, name)
	}
	return won, nil
}

func writeFile(dir vfs.Dir, name string, size int) error {
	file, err := dir.Create(name)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(make([]byte, size), 0)
	return errors.Join(err, file.Sync(), file.Close(), dir.Sync())
}

// overName is the file by which the taker says that it has taken over.
const overName = "over"

// pace is the shortest time between two records of the holder: it is not throughput that is tried.
const pace = 5 * time.Millisecond

// zombieRecords is how many records it may take the holder, after that, to notice: none. With three it is certain that it never will.
const zombieRecords = 3

// lead takes the log over and appends until it is fenced, which it must be. What was acknowledged is in the answer.
func (w *worker) lead(ctx context.Context, freeze time.Duration) (answer reply, err error) {
	answer.Acked = map[int64]string{}
	log, err := storage.OpenLog(ctx, w.disk, w.path+"/"+logName)
	if err != nil {
		return answer, err
	}
	defer log.Close(context.WithoutCancel(ctx))
	watch := newStallWatch()
	defer watch.stop()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n, zombie := 1, 0; zombie < zombieRecords; n++ {
		if over, err := listed(w.dir, overName); err != nil {
			return answer, err
		} else if over {
			zombie++
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return answer, context.Cause(ctx)
		}
		value := fmt.Sprintf("holder %d-%d", os.Getpid(), n)
		offset, err := log.Append(ctx, storage.Record{Value: []byte(value)})
		if err != nil {
			answer.Frozen, answer.Noticed = watch.longest()
			return answer, err
		}
		answer.Acked[offset] = value
		if err := put(w.dir, pulseName, n); err != nil {
			return answer, err
		}
		if n == pulsesBeforeFreeze && freeze > 0 {
			if _, err := fmt.Fprintf(w.freeze, "freeze %v\n", freeze); err != nil {
				return answer, err
			}
		}
	}
	return answer, errors.New("records were acknowledged after another owner had taken over")
}

// stallWatch notices that the process stood still.
type stallWatch struct {
	quit, done chan struct{}
	stalled    time.Duration
	thawed     time.Time
}

// stallTick is how exactly it knows.
const stallTick = 5 * time.Millisecond

func newStallWatch() *stallWatch {
	w := &stallWatch{quit: make(chan struct{}), done: make(chan struct{})}
	go w.run(time.Now()) // now: the goroutine may come to run only after the freeze
	return w
}

func (w *stallWatch) run(last time.Time) {
	defer close(w.done)
	tick := time.NewTicker(stallTick)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-w.quit:
			over = true // but look once more: the fence can be faster than the tick
		case <-tick.C:
		}
		now := time.Now()
		if gap := now.Sub(last); gap > w.stalled {
			w.stalled, w.thawed = gap, now
		}
		last = now
	}
}

func (w *stallWatch) stop() {
	select {
	case <-w.quit:
	default:
		close(w.quit)
	}
	<-w.done
}

// longest ends the watch and returns the longest standstill and how long ago it ended; nothing below a second counts.
func (w *stallWatch) longest() (stalled, ago time.Duration) {
	now := time.Now()
	w.stop()
	if w.stalled < time.Second {
		return 0, 0
	}
	return w.stalled, max(now.Sub(w.thawed), 0)
}
