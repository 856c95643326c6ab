package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

func threads() int {
	samples := []metrics.Sample{{Name: "/sched/threads/total:threads"}}
	metrics.Read(samples)
	return int(samples[0].Value.Uint64())
}

func TestRetireThreads(t *testing.T) {
	const many = 4 * keptThreads
	var running, ended sync.WaitGroup
	enough := make(chan struct{})
	running.Add(many)
	for range many {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			running.Done()
			<-enough
		})
	}
	running.Wait()
	close(enough)
	ended.Wait()
	if n := threads(); n < many {
		t.Fatalf("%d threads before, want %d", n, many)
	}
	retireThreads()
	// They end a moment after their goroutines.
	for deadline := time.Now().Add(10 * time.Second); threads() > keptThreads+2; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are left, want about %d", threads(), keptThreads)
		}
	}
}
