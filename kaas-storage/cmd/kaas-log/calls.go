package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// callClock measures the file calls of a file system, by kind.
type callClock struct {
	mu     sync.Mutex
	began  map[vfs.Op]time.Time
	counts map[vfs.OpKind]*callTime
}

// timed puts a clock in front of a file system.
func timed(disk vfs.FS) (vfs.FS, *callClock) {
	c := &callClock{began: map[vfs.Op]time.Time{}, counts: map[vfs.OpKind]*callTime{}}
	return vfs.NewFault(disk, c.hook), c
}

func (c *callClock) hook(op vfs.Op) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := vfs.Op{Kind: op.Kind, Path: op.Path, Name: op.Name, Offset: op.Offset, Size: op.Size}
	if !op.After {
		c.began[call] = time.Now()
		return nil
	}
	began, known := c.began[call]
	if !known {
		return nil
	}
	delete(c.began, call)
	count := c.counts[op.Kind]
	if count == nil {
		count = &callTime{Call: op.Kind.String()}
		c.counts[op.Kind] = count
	}
	took := millis(time.Since(began))
	count.Count++
	count.Millis += took
	count.Longest = max(count.Longest, took)
	return nil
}

// times lists the kinds that took longest first, without those that took nothing.
func (c *callClock) times() []callTime {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []callTime
	for _, count := range c.counts {
		if count.Millis >= 0.1 {
			all = append(all, *count)
		}
	}
	slices.SortFunc(all, func(a, b callTime) int { return cmp.Or(cmp.Compare(b.Millis, a.Millis), cmp.Compare(a.Call, b.Call)) })
	return all
}
