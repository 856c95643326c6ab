package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// keptThreads is how many threads a broker keeps that rests: enough for whatever goes on by itself.
const keptThreads = 14

// retireThreads ends threads until keptThreads are left. The runtime makes one for each file call that blocks while others do, up to some seventy here, and
// ends none by itself; each keeps 20 KB of stacks. A thread ends together with a goroutine that is still locked to it (runtime.LockOSThread).
func retireThreads() {
	samples := []metrics.Sample{{Name: "/sched/threads/total:threads"}}
	metrics.Read(samples)
	var ending sync.WaitGroup
	for range int(samples[0].Value.Uint64()) - keptThreads {
		ending.Go(runtime.LockOSThread)
	}
	ending.Wait()
}
