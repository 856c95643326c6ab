package api

import "sync"

// maxParallel is how many groups, transactions or partitions of one request are worked on at a time: each waits for the file system.
const maxParallel = 8

// inParallel does the work for 0 to count-1, a few at a time, and returns when all is done.
func inParallel(count int, work func(i int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i := range count {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			work(i)
		})
	}
	running.Wait()
}
