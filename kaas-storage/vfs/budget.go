package vfs

import "sync/atomic"

// budget counts the bytes that a memory file system has handed out.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves bytes and reports whether they fitted.
func (b *budget) take(bytes int64) bool {
	for {
		used := b.used.Load()
		if bytes > b.limit-used {
			return false
		}
		if b.used.CompareAndSwap(used, used+bytes) {
			return true
		}
	}
}

func (b *budget) give(bytes int64) { b.used.Add(-bytes) }
