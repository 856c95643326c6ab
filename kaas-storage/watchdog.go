package storage

import "time"

// watchdog notices a file operation that does not return. Its owner calls begin before each operation; if the next begin or end does not
// come within the deadline, expired runs, once, on its own goroutine. It can be used again after end, by one goroutine at a time.
type watchdog struct {
	deadline time.Duration
	expired  func()
	timer    *time.Timer // made at the first begin
}

// newWatchdog returns a watchdog that has begun to watch.
func newWatchdog(deadline time.Duration, expired func()) *watchdog {
	w := &watchdog{deadline: deadline, expired: expired}
	w.begin()
	return w
}

func (w *watchdog) begin() {
	if w.timer == nil {
		w.timer = time.AfterFunc(w.deadline, w.expired)
		return
	}
	w.timer.Reset(w.deadline)
}

func (w *watchdog) end() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
