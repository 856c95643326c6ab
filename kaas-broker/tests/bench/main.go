package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f, err := parse(args, stderr)
	if err != nil {
		return err
	}
	f.complete()
	// The client's garbage collector takes its time from the broker's cores.
	debug.SetGCPercent(400)
	r, err := newRace(f, stderr)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	if !f.quick { // the first use of all free memory takes longer than a quick race
		if r.ballast, err = newBallast(); err != nil {
			return err
		}
	}
	defer func() { _ = r.ballast.release() }()
	written := report{Command: f.command(), Machine: describeMachine(ctx, r.dir), Settings: r.settings, Results: r.results}
	// A race that is ended early has written its complete rounds.
	r.afterRound = func(complete int) error {
		written.Settings.Rounds, written.Failures = complete, r.failures
		if f.out == "" {
			return nil
		}
		return written.write(f.out)
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	fmt.Fprintln(stdout, written.markdown())
	if len(r.failures) > 0 {
		return fmt.Errorf("%d works failed", len(r.failures))
	}
	return nil
}

// newRace resolves the defaults and makes the race's directory.
func newRace(f flags, progress io.Writer) (*race, error) {
	if _, err := os.Stat(f.binary); err != nil {
		return nil, fmt.Errorf("find kaas (make build builds it): %w", err)
	}
	r := &race{settings: f.settings(), values: newPayloads(), progress: progress, results: results{}}
	if f.profiles != "" {
		if err := os.MkdirAll(f.profiles, 0o750); err != nil {
			return nil, err
		}
		r.profiles = profiles{dir: f.profiles, length: profileLength}
	}
	var err error
	if r.contestants, err = f.choose(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o750); err != nil {
		return nil, err
	}
	r.dir, err = os.MkdirTemp(f.dir, "bench-")
	return r, err
}
