package main

import (
	"context"
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
	set := func(name string) bool {
		return slices.ContainsFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	}
	if !set("GOGC") {
		debug.SetGCPercent(garbagePercent)
	}
	if limit := memory.GroupLimit(); limit > 0 && !set("GOMEMLIMIT") {
		// The rest is for what the runtime does not count: the program's own pages, and the kernel's buffers.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
	return !set("GOGC")
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

// paceCollector looks once a second how often the collector has run, until ctx ends.
func paceCollector(ctx context.Context) {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	metrics.Read(samples)
	rounds, percent := samples[0].Value.Uint64(), garbagePercent
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		metrics.Read(samples)
		next := pacedPercent(percent, samples[0].Value.Uint64()-rounds, samples[1].Value.Uint64())
		rounds = samples[0].Value.Uint64()
		if next != percent {
			debug.SetGCPercent(next)
			percent = next
		}
	}
}

// pacedPercent is how much garbage there may be from now on, in percent of what is in use, after a second with so many rounds of the collector.
func pacedPercent(percent int, rounds, live uint64) int {
	busy := rounds >= manyRounds || percent > garbagePercent && rounds > fewRounds
	if !busy {
		return garbagePercent
	}
	return int(min(max(100*busyGarbage/max(live, 1), garbagePercent), maxPercent))
}
