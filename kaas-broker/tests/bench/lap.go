package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// lap is all works of one contestant in one round.
type lap struct {
	*race
	contestant contestant
	dir        string
	server     *server   // of the works that share one broker
	servers    []*server // all of this lap
	memory     int64     // what the work under way needs
}

// work is one thing that is measured.
type work struct {
	name string
	run  func(context.Context, *lap) error
	// profiled works are worth a profile of the broker.
	profiled bool
	// alone works start brokers of their own, and nothing else may run beside them.
	alone bool
	// reads is the work whose records this one reads; empty when it needs none.
	reads string
	// memory is how much the work needs for the files that it writes; nil for littleMemory.
	memory func(settings) int64
	// wanted is nil for a work that is always done.
	wanted func(*lap) bool
}

// Names of works that others refer to.
const (
	nameWarmUp       = "warm up"
	nameProduceEight = "produce, 8 producers"
)

// works are in the order in which they are run: later ones read what earlier ones wrote.
func works() []work {
	return []work{
		{name: nameWarmUp, run: warmUp},
		{name: "produce, 1 producer", run: runProduceOne, profiled: true, memory: func(s settings) int64 { return withRoom(s.OneBytes) }},
		{name: nameProduceEight, run: runProduceEight, profiled: true, memory: eightMemory},
		{name: "produce, 8 producers, idempotent", run: runProduceIdempotent, memory: eightMemory},
		{name: "produce, bare requests", run: runProduceBare, profiled: true, memory: eightMemory},
		{name: "one record at a time", run: runSingle, profiled: true},
		{name: "offered load", run: runOffered, profiled: true},
		{name: "end to end", run: runEndToEnd},
		{name: "fetch, bare requests", run: runFetchBare, profiled: true, reads: nameProduceEight},
		{name: "fetch, real client", run: runFetchClient, reads: nameProduceEight},
		{name: "commits of groups", run: runCommits, profiled: true},
		{name: "transactions", run: runTransactions, profiled: true},
		{name: "memory per partition", run: runPartitions, alone: true},
		{name: "recovery", run: runRecovery, alone: true},
		{name: "replay of 10,000 groups", run: runReplay, alone: true},
		{name: "recovery of 2 GB", run: runLargeRecovery, alone: true, wanted: func(l *lap) bool { return l.settings.Large && l.contestant.name == nameKaas }},
		{name: "10,000 idle partitions", run: runIdle, alone: true, wanted: func(l *lap) bool { return l.settings.Idle && l.contestant.name == nameKaas }},
	}
}

// withRoom adds an eighth to the bytes that a work writes to files.
func withRoom(bytes int64) int64 { return bytes / 8 * 9 }

func eightMemory(s settings) int64 { return withRoom(s.EightBytes) }

// littleMemory is enough for works that write little, and for what clients fill before their collector runs.
const littleMemory = 1 << 30

func (l *lap) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.close(ctx)) }()
	if l.server, err = l.fresh(ctx, "shared"); err != nil {
		return err
	}
	for _, w := range chosen(works(), l.settings.Works) {
		if w.wanted != nil && !w.wanted(l) {
			continue
		}
		if w.alone {
			if err := l.server.kill(ctx); err != nil {
				return err
			}
		}
		l.memory = littleMemory
		if w.memory != nil {
			l.memory = w.memory(l.settings)
		}
		if err := l.settle(ctx, l.memory); err != nil {
			return err
		}
		l.sayf("  %s", w.name)
		if err := l.runWork(ctx, w); err != nil {
			if ctx.Err() != nil || w.name == nameWarmUp {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			l.failed(w, err)
		}
	}
	return nil
}

// chosen is the works whose name holds the text, those that they read from, and the warm up.
func chosen(all []work, text string) []work {
	named := func(w work) bool { return strings.Contains(w.name, text) }
	return slices.DeleteFunc(slices.Clone(all), func(w work) bool {
		needed := w.name == nameWarmUp || slices.ContainsFunc(all, func(other work) bool { return named(other) && other.reads == w.name })
		return !named(w) && !needed
	})
}

func (l *lap) runWork(ctx context.Context, w work) error {
	if !w.profiled || l.profiles.dir == "" || l.contestant.name != nameKaas {
		return w.run(ctx, l)
	}
	return l.profiles.around(ctx, l.server, w.name, func() error { return w.run(ctx, l) })
}

// fresh starts a broker in a new directory of this lap.
func (l *lap) fresh(ctx context.Context, name string) (*server, error) {
	return l.freshBy(ctx, l.contestant.launcher, name)
}

// freshBy is fresh with a launcher of the work's own.
func (l *lap) freshBy(ctx context.Context, by launcher, name string) (*server, error) {
	s, err := newServer(by, filepath.Join(l.dir, name))
	if err != nil {
		return nil, err
	}
	l.servers = append(l.servers, s)
	return s, s.start(ctx)
}

// close ends every broker of the lap and notes the most memory that any of its processes took, those of the optional works left out.
func (l *lap) close(ctx context.Context) error {
	var errs []error
	var peak int64
	for _, s := range l.servers {
		errs = append(errs, s.kill(ctx))
		if !s.optional {
			peak = max(peak, s.peak)
		}
	}
	l.note(peakMemory, float64(peak)/1e6)
	return errors.Join(errs...)
}

// failed keeps a work's error for the report: the other works of a long race are worth having all the same.
func (l *lap) failed(w work, err error) {
	l.failures = append(l.failures, fmt.Sprintf("%s, %s: %v", l.contestant.title, w.name, err))
	l.sayf("    failed: %v", err)
}

// note records a measurement of this lap's contestant.
func (l *lap) note(m metric, value float64) {
	l.results.add(l.contestant.name, m, value)
	l.sayf("    %-46s %.4g", m, value)
}
