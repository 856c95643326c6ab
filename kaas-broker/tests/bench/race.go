package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// contestant is one broker in one configuration.
type contestant struct {
	name     string
	title    string
	launcher launcher
}

// race runs rounds of laps.
type race struct {
	settings    settings
	contestants []contestant
	values      payloads
	dir         string // where the laps' directories are
	progress    io.Writer
	results     results
	failures    []string
	profiles    profiles
	ballast     *ballast
	// afterRound is called with the number of rounds that are complete.
	afterRound func(complete int) error
}

// run probes the machine, lets every contestant run one lap in each round, and probes again after each round.
func (r *race) run(ctx context.Context) error {
	if err := r.probe(ctx); err != nil {
		return err
	}
	for round := range r.settings.Rounds {
		for i := range r.contestants {
			// Another one begins in each round, so that nobody always follows the same neighbor.
			c := r.contestants[(round+i)%len(r.contestants)]
			if err := r.lap(ctx, c, round); err != nil {
				return fmt.Errorf("round %d of %s: %w", round+1, c.title, err)
			}
		}
		if err := r.probe(ctx); err != nil {
			return err
		}
		if err := r.afterRound(round + 1); err != nil {
			return err
		}
	}
	return nil
}

func (r *race) lap(ctx context.Context, c contestant, round int) error {
	dir := filepath.Join(r.dir, fmt.Sprintf("%s-%d", c.name, round+1))
	defer os.RemoveAll(dir)
	r.sayf("round %d of %d: %s", round+1, r.settings.Rounds, c.title)
	l := &lap{race: r, contestant: c, dir: dir}
	return l.run(ctx)
}

func (r *race) probe(ctx context.Context) error {
	r.sayf("probe of disk and loopback")
	return runProbes(ctx, r)
}

// settle lets the kernel write what the last work left dirty, so that the next one does not pay for it, and then leaves so much memory for the next.
func (r *race) settle(ctx context.Context, memory int64) error {
	syscall.Sync()
	if err := pause(ctx, r.settings.Rest); err != nil {
		return err
	}
	return r.ballast.leave(memory)
}

func (r *race) sayf(format string, arguments ...any) {
	fmt.Fprintf(r.progress, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, arguments...))
}
