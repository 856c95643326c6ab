package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// trial is the taker's side: it says what happens, and judges.
type trial struct {
	*options

	streams streams
	disk    vfs.FS
	dir     vfs.Dir // the meeting's
	holder  *mailbox
	acked   map[int64]string // by both sides: value by offset
	pulsed  int              // what the holder's file said last
	report  *report
}

// lost is an error after which the holder does something else than the taker believes, so that nothing more can be tried.
type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

// How much is tried.
const (
	raceNames  = 200
	fileSize   = 100_000
	commits    = 100
	someAppend = 5
)

// run goes through the steps. A failed step is reported and the next one tried; an error is what keeps it from going on.
func (t *trial) run(ctx context.Context) error {
	hello, err := t.holder.ask(ctx, request{Op: "hello"})
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	t.report.begin(describeVolume(t.options.dir, t.disk), hello.Host, fmt.Sprintf("%s, process %d", host, os.Getpid()))
	for _, s := range []struct {
		name string
		try  func(ctx context.Context, s *step) error
	}{
		{"claims fence within the taker", t.trialHere},
		{"claims fence within the holder", t.trialThere},
		{"of two who make one directory, one does", t.race},
		{"what one writes and syncs, the other finds whole", t.visible},
		{"the holder notices that its claim was removed", t.removed},
		{"and that it was made anew by another", t.remade},
		{"commits, one record at a time", t.commits},
		{"takeover from a holder at work", t.takeFromRunning},
		{"takeover from a frozen process", t.takeFromFrozen},
		{"takeover from a frozen machine", t.takeFromMachine},
		{"all acknowledged records are in the log, which is sound", t.verify},
	} {
		if s.name == "takeover from a frozen machine" && !t.byHand {
			continue
		}
		result := &step{Name: s.name}
		began := time.Now()
		err := s.try(ctx, result)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.As(err, new(lost)) {
			t.dismiss()
			if t.report.Fences {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		result.OK = err == nil
		if err != nil {
			result.Detail = err.Error()
		}
		if result.Millis == 0 {
			result.Millis = millis(time.Since(began))
		}
		t.report.add(result)
		if errors.As(err, new(lost)) {
			return nil // what was found before is the verdict
		}
	}
	_, err = t.holder.ask(ctx, request{Op: "quit"})
	return err
}

// dismiss ends whatever the holder is doing, as far as it still listens.
func (t *trial) dismiss() {
	_ = put(t.dir, overName, true)
	_, _ = t.holder.send(request{Op: "quit"})
}

func (t *trial) trialHere(context.Context, *step) error { return storage.CheckFencing(t.dir) }

func (t *trial) trialThere(ctx context.Context, s *step) error {
	answer, err := t.holder.ask(ctx, request{Op: "trial"})
	if err != nil {
		return err
	}
	s.Millis = millis(answer.Took)
	return answer.err()
}

// race has both make the same names at the same time.
func (t *trial) race(ctx context.Context, s *step) error {
	receive, err := t.holder.send(request{Op: "race", Name: "race.", Count: raceNames})
	if err != nil {
		return err
	}
	mine, err := raceFor(t.dir, "race.", raceNames)
	if err != nil {
		return err
	}
	theirs, err := receive(ctx)
	if err := errors.Join(err, theirs.err()); err != nil {
		return err
	}
	for _, name := range mine {
		if slices.Contains(theirs.Names, name) {
			return fmt.Errorf("both were told that they made %s: this file system does not make directories exclusively", name)
		}
	}
	if all := len(mine) + len(theirs.Names); all != raceNames {
		return fmt.Errorf("%d of %d directories were made by anybody", all, raceNames)
	}
	s.Detail = fmt.Sprintf("%d by the taker, %d by the holder", len(mine), len(theirs.Names))
	return nil
}

// visible lists and reads what the holder has written, whose names and sizes were looked at before.
func (t *trial) visible(ctx context.Context, s *step) error {
	if found, err := listed(t.dir, "file"); err != nil || found {
		return errors.Join(err, errIf(found, "the file is there before it was written"))
	}
	answer, err := t.holder.ask(ctx, request{Op: "write", Name: "file", Count: fileSize})
	if err := errors.Join(err, answer.err()); err != nil {
		return err
	}
	s.Millis = millis(answer.Took)
	if found, err := listed(t.dir, "file"); err != nil || !found {
		return errors.Join(err, errIf(!found, "a new file is not in the listing"))
	}
	data, err := vfs.ReadFile(t.dir, "file", 2*fileSize)
	return errors.Join(err, errIf(len(data) != fileSize, fmt.Sprintf("the file has %d bytes, %d were written and synced", len(data), fileSize)))
}

func errIf(wrong bool, what string) error {
	if wrong {
		return errors.New(what)
	}
	return nil
}

// removed removes the directory that the holder holds.
func (t *trial) removed(ctx context.Context, s *step) error {
	if err := t.dir.Mkdir("claim"); err != nil {
		return err
	}
	for _, op := range []string{"hold", "check", "parent"} {
		answer, err := t.holder.ask(ctx, request{Op: op, Name: "claim"})
		if err := errors.Join(err, answer.err()); err != nil {
			return fmt.Errorf("before the removal: %s: %w", op, err)
		}
	}
	began := time.Now()
	if err := t.dir.Rmdir("claim"); err != nil {
		return err
	}
	s.Millis = millis(time.Since(began))
	return t.mustBeUnlinked(ctx, s)
}

// remade makes the directory again before the holder looks.
func (t *trial) remade(ctx context.Context, s *step) error {
	if err := t.dir.Mkdir("claim"); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	answer, err := t.holder.ask(ctx, request{Op: "hold", Name: "claim"})
	if err := errors.Join(err, answer.err()); err != nil {
		return err
	}
	if err := errors.Join(t.dir.Rmdir("claim"), t.dir.Mkdir("claim")); err != nil {
		return err
	}
	return t.mustBeUnlinked(ctx, s)
}

func (t *trial) mustBeUnlinked(ctx context.Context, s *step) error {
	for _, op := range []string{"check", "parent"} {
		answer, err := t.holder.ask(ctx, request{Op: op})
		switch {
		case err != nil:
			return err
		case answer.Unlinked:
			if op == "check" {
				s.Detail = fmt.Sprintf("the check took %.1f ms", millis(answer.Took))
			}
		case answer.Error != "":
			return fmt.Errorf("%s: %w", op, answer.err())
		default:
			return fmt.Errorf("%s: the directory still looks linked to its holder: this file system cannot fence", op)
		}
	}
	return nil
}
