package main

import "runtime"

// waitingCalls is how many goroutines may be inside a sync of the disk without keeping others from running.
const waitingCalls = 8

// tuneScheduler lets more goroutines run than there are cores. A goroutine in a blocking call keeps its place until the runtime's monitor takes it away,
// which on a machine with few cores comes after up to 10 ms: every commit waits in such a call, and requests would wait behind a few of them. What the
// operator has set with GOMAXPROCS stays.
func tuneScheduler(environ []string) {
	if isSet(environ, "GOMAXPROCS") {
		return
	}
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waitingCalls)
}
