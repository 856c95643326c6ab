package storage

import "time"

// watchdog notices a file operation that does not return. Its owner calls begin before each operation; if the next begin or end does not
// come within the deadline, expired runs, once, on its own goroutine.
type watchdog struct {
	timer    *time.Timer
	deadline time.Duration
}

func newWatchdog(deadline time.Duration, expired func()) *watchdog {
	w := &watchdog{timer: time.AfterFunc(deadline, expired), deadline: deadline}
	return w
}

func (w *watchdog) begin() { w.timer.Reset(w.deadline) }
func (w *watchdog) end()   { w.timer.Stop() }
