package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// lookForRest is how often a broker looks whether it rests: it does when it has allocated no more than restingBytes in between.
	lookForRest  = 500 * time.Millisecond
	restingBytes = 128 << 10
	// worthReturning is how much a burst must have allocated for a collection, and not less than an eighth of what is in use.
	worthReturning = 1 << 20
)

// tidier gives memory back to the system when a burst of work is over. By itself the runtime keeps the garbage of the burst until the next collection,
// which a broker that rests makes after two minutes, and what was collected for longer: for a broker with many partitions, little traffic and small
// memory that is as much as all it needs. The price is one collection for each burst, of a heap that is small because record bytes are not kept in it.
type tidier struct {
	samples   []metrics.Sample
	allocated uint64 // when it last looked
	collected uint64 // what had been allocated at the last tidying
}

// Places in tidier.samples.
const (
	sampleAllocated = iota
	sampleLive
)

func newTidier() *tidier {
	return &tidier{samples: []metrics.Sample{
		sampleAllocated: {Name: "/gc/heap/allocs:bytes"},
		sampleLive:      {Name: "/gc/heap/live:bytes"},
	}}
}

// run ends with ctx.
func (t *tidier) run(ctx context.Context) {
	tick := time.NewTicker(lookForRest)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if t.due() {
				retireThreads() // first, because their stacks are memory, too
				debug.FreeOSMemory()
			}
		}
	}
}

// due reports whether the process rests after having done something, and has memory that is worth returning.
func (t *tidier) due() bool {
	metrics.Read(t.samples)
	value := func(i int) uint64 { return t.samples[i].Value.Uint64() }
	rests := value(sampleAllocated)-t.allocated <= restingBytes
	t.allocated = value(sampleAllocated)
	garbage := t.allocated - t.collected // an upper bound: what is still in use counts, too
	if !rests || garbage < max(worthReturning, value(sampleLive)/8) {
		return false
	}
	t.collected = t.allocated
	return true
}
