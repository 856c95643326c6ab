package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// stillness is how long the holder must show no sign of life to count as frozen, and by hand, where it may only be slow.
const (
	stillness       = 1500 * time.Millisecond
	stillnessByHand = 5 * time.Second
)

func (t *trial) logPath() string { return t.meeting() + "/" + logName }

// commits measures what an acknowledged record costs here.
func (t *trial) commits(ctx context.Context, s *step) error {
	log, err := storage.OpenLog(ctx, t.disk, t.logPath())
	if err != nil {
		return err
	}
	times, err := t.append(ctx, log, commits)
	if err := errors.Join(err, log.Close(ctx)); err != nil {
		return err
	}
	slices.Sort(times)
	s.Millis = millis(times[len(times)/2])
	s.Detail = fmt.Sprintf("median of %d, 99 %% below %.1f ms", len(times), millis(times[len(times)*99/100]))
	return nil
}

func (t *trial) append(ctx context.Context, log *storage.Log, count int) (times []time.Duration, err error) {
	for n := range count {
		value := fmt.Sprintf("taker %d-%d", os.Getpid(), len(t.acked)+n)
		began := time.Now()
		offset, err := log.Append(ctx, storage.Record{Value: []byte(value)})
		if err != nil {
			return times, err
		}
		times = append(times, time.Since(began))
		if err := t.acknowledged(offset, value); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (t *trial) acknowledged(offset int64, value string) error {
	if before, taken := t.acked[offset]; taken {
		return fmt.Errorf("offset %d was acknowledged for %q and again for %q", offset, before, value)
	}
	t.acked[offset] = value
	return nil
}

func (t *trial) takeFromRunning(ctx context.Context, s *step) error {
	return t.takeOver(ctx, s, 0, func(ctx context.Context) error { return t.awaitPulse(ctx, pulsesBeforeFreeze/2) })
}

func (t *trial) takeFromFrozen(ctx context.Context, s *step) error {
	return t.takeOver(ctx, s, t.freeze, func(ctx context.Context) error {
		return errors.Join(t.awaitPulse(ctx, pulsesBeforeFreeze), t.awaitStillness(ctx, stillness))
	})
}

func (t *trial) takeFromMachine(ctx context.Context, s *step) error {
	return t.takeOver(ctx, s, 0, func(ctx context.Context) error {
		if err := t.awaitPulse(ctx, 1); err != nil {
			return err
		}
		fmt.Fprintln(t.streams.err, "freeze the holder's machine now, and leave it frozen until you are told")
		defer fmt.Fprintln(t.streams.err, "it stands still; taking over")
		return t.awaitStillness(ctx, stillnessByHand)
	})
}

// takeOver lets the holder lead until ready returns, takes the log over, and then judges what the holder did.
func (t *trial) takeOver(ctx context.Context, s *step, freeze time.Duration, ready func(ctx context.Context) error) error {
	for _, name := range []string{pulseName, overName} {
		if err := t.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	t.pulsed = 0
	receive, err := t.holder.send(request{Op: "lead", Freeze: freeze})
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, t.wait, errors.New("the holder does not do what it should"))
	defer cancel()
	if err := ready(waiting); err != nil {
		return lost{err}
	}
	disk, calls := timed(t.disk)
	began := time.Now()
	log, err := storage.OpenLog(ctx, disk, t.logPath())
	took := time.Since(began)
	if err != nil {
		return lost{fmt.Errorf("take over: %w", err)}
	}
	s.Millis, s.Calls = millis(took), calls.times()
	_, failed := t.append(ctx, log, someAppend)
	if err := put(t.dir, overName, true); err != nil {
		return lost{err}
	}
	if t.byHand && freeze == 0 {
		fmt.Fprintln(t.streams.err, "the takeover is done; let the machine go on, if it is frozen")
	}
	answer, err := receive(ctx)
	if err != nil {
		return lost{errors.Join(err, log.Close(ctx))}
	}
	return errors.Join(t.judge(s, answer, freeze, took), failed, log.Close(ctx))
}

// judge looks at what the holder says of its leadership.
func (t *trial) judge(s *step, answer reply, freeze, took time.Duration) error {
	for offset, value := range answer.Acked {
		if err := t.acknowledged(offset, value); err != nil {
			return err
		}
	}
	switch {
	case !answer.Fenced:
		return fmt.Errorf("the holder was not fenced: %s", answer.Error)
	case freeze > 0 && answer.Frozen == 0:
		return errors.New("the holder's process was not stopped")
	case freeze > 0 && took > freeze-stillness:
		return fmt.Errorf("the takeover took %v, and so ended after the holder went on: try a longer --freeze", took)
	}
	s.Detail = fmt.Sprintf("the holder had acknowledged %d records and was then fenced", len(answer.Acked))
	if answer.Frozen > 0 {
		s.Detail += fmt.Sprintf(", %.1f ms after it went on", millis(answer.Noticed))
	}
	return nil
}

// awaitPulse waits until the holder has acknowledged so many records.
func (t *trial) awaitPulse(ctx context.Context, count int) error {
	return until(ctx, func() (bool, error) {
		n, err := t.pulse()
		return n >= count, err
	})
}

// awaitStillness waits until the holder shows no sign of life for a while.
func (t *trial) awaitStillness(ctx context.Context, length time.Duration) error {
	last, since := -1, time.Now()
	return until(ctx, func() (bool, error) {
		n, err := t.pulse()
		if n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) >= length, err
	})
}

func (t *trial) pulse() (int, error) {
	n := t.pulsed
	data, err := vfs.ReadFile(t.dir, pulseName, 32)
	if replaced(err) {
		return n, nil
	}
	if err == nil {
		n, err = strconv.Atoi(string(data))
	}
	t.pulsed = n
	return n, err
}

// verify reads the log as a new owner, and its files as verify does.
func (t *trial) verify(ctx context.Context, s *step) error {
	log, err := storage.OpenLog(ctx, t.disk, t.logPath())
	if err != nil {
		return err
	}
	missing := len(t.acked)
	for record, err := range log.Read(0) {
		if err != nil {
			return errors.Join(err, log.Close(ctx))
		}
		if value, known := t.acked[record.Offset]; known && value == string(record.Value) {
			missing--
		}
	}
	if err := log.Close(ctx); err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d acknowledged records are not in the log where they were acknowledged", missing, len(t.acked))
	}
	dir, err := t.disk.OpenDir(t.logPath())
	if err != nil {
		return err
	}
	defer dir.Close()
	inspection, err := storage.Inspect(dir)
	if err != nil {
		return err
	}
	damaged := ""
	err = inspection.Verify(func(f storage.Finding) {
		if f.Damage {
			damaged = f.File + ": " + f.What
		}
	})
	s.Detail = fmt.Sprintf("%d records", len(t.acked))
	return errors.Join(err, errIf(damaged != "", damaged))
}
