package protocol

import (
	"sync"
	"time"
)

// logPause is the least time between two log lines about the same kind of trouble, which a client can cause
// as often as it likes.
const logPause = 10 * time.Second

// sometimes lets one log line through per logPause and counts the others.
type sometimes struct {
	mutex   sync.Mutex
	next    time.Time
	skipped int
}

// allow reports whether to log now, and how many lines were left out since the last one.
func (s *sometimes) allow(now time.Time) (skipped int, ok bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if now.Before(s.next) {
		s.skipped++
		return 0, false
	}
	skipped, s.skipped, s.next = s.skipped, 0, now.Add(logPause)
	return skipped, true
}
