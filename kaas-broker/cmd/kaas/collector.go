package main

import (
	"context"
	"math/bits"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/memory"
)

// garbagePercent is how much garbage there may be for each byte in use before it is collected. What the broker holds is mostly record bytes, which the
// collector need not look into: a round is cheap, so that there is no reason to let the memory double, as Go does by default.
const garbagePercent = 50

// Where little is in use and many small requests come, rounds follow each other closely, and each takes a core from the requests for milliseconds.
const (
	// manyRounds in a second are more than the garbage is worth, fewRounds are not.
	manyRounds = 6
	fewRounds  = 1
	// busyGarbage is how many bytes of garbage there may be then, whatever is in use. It is no more than garbagePercent allows a broker with much in use,
	// so that the most memory that a broker ever takes stays what it is.
	busyGarbage = 16 << 20
	// maxPercent bounds what an all but empty heap makes of busyGarbage.
	maxPercent = 1000
)

// tuneCollector leaves alone what the operator has set with GOGC or GOMEMLIMIT. It reports whether the broker may say when the garbage collector runs.
func tuneCollector(environ []string) (ours bool) {
	ours = !isSet(environ, "GOGC")
	if ours {
		debug.SetGCPercent(garbagePercent)
	}
	if limit := memory.GroupLimit(); limit > 0 && !isSet(environ, "GOMEMLIMIT") {
		// The rest is for what the runtime does not count: the program's own pages, and the kernel's buffers.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
	return ours
}

// isSet reports whether the operator has set one of the Go runtime's variables.
func isSet(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
}

// beside runs work until end is called, which waits for it.
func beside(work func(ctx context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { work(ctx) })
	return func() {
		cancel()
		working.Wait()
	}
}

// paceCollector looks once a second how often the collector has run, and after each of its rounds how much is in use, until ctx ends. A
// percentage that was chosen for a heap that is all but empty would allow gigabytes of garbage as soon as requests take much.
func paceCollector(ctx context.Context) { pace(ctx, collections(ctx)) }

func pace(ctx context.Context, collected <-chan struct{}) {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	metrics.Read(samples)
	rounds, percent, busy := samples[0].Value.Uint64(), garbagePercent, false
	for {
		ticked := false
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			ticked = true
		case <-collected:
		}
		metrics.Read(samples)
		if ticked {
			busy = isBusy(busy, samples[0].Value.Uint64()-rounds)
			rounds = samples[0].Value.Uint64()
		}
		if next := pacedPercent(busy, samples[1].Value.Uint64()); next != percent {
			debug.SetGCPercent(next)
			percent = next
		}
	}
}

// collections tells of each round of the collector, as long as ctx lasts: an object that nobody holds is found by the next round.
func collections(ctx context.Context) <-chan struct{} {
	collected := make(chan struct{}, 1)
	var watch func(struct{})
	watch = func(struct{}) {
		if ctx.Err() != nil {
			return
		}
		select {
		case collected <- struct{}{}:
		default: // the last one has not been looked at yet
		}
		runtime.AddCleanup(new(sentinel), watch, struct{}{})
	}
	runtime.AddCleanup(new(sentinel), watch, struct{}{})
	return collected
}

// sentinel has a pointer, so that it is an object of its own: a cleanup of one that shares its memory with others may never run.
type sentinel struct{ _ *int }

// isBusy says whether garbage may come to busyGarbage, after a second with so many rounds of the collector.
func isBusy(before bool, rounds uint64) bool {
	return rounds >= manyRounds || before && rounds > fewRounds
}

// pacedPercent is how much garbage there may be in percent of what is in use, in steps of an eighth so that it need not be set for nothing.
func pacedPercent(busy bool, live uint64) int {
	if !busy {
		return garbagePercent
	}
	percent := min(100*busyGarbage/max(live, 1), maxPercent)
	step := uint64(1) << max(bits.Len64(percent)-4, 0)
	return int(max(percent/step*step, garbagePercent))
}
