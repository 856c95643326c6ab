package main

import (
	"runtime"
	"syscall"
	"time"
)

// threadTimer measures the CPU time of one goroutine, which has a thread of its own as long as it is measured.
type threadTimer struct{ began time.Duration }

func timeThread() threadTimer {
	runtime.LockOSThread()
	return threadTimer{threadTime()}
}

func (t threadTimer) spent() time.Duration { return threadTime() - t.began }

func (threadTimer) release() { runtime.UnlockOSThread() }

// threadTime is user and system time of the calling thread; 0 where the kernel does not tell.
func threadTime() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if syscall.Getrusage(thisThread, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
