package group

import "time"

// deadline is one timer of a group. A heartbeat only moves the deadline; the runtime's timer is set again when it fires too early, so that
// a beat costs no more than a store.
type deadline struct {
	at    time.Time // when the timer counts
	fires time.Time // when the runtime's timer fires, never after at
	timer *time.Timer
}

// change sets or stops a timer. The caller holds the lock.
func (l *Live) change(c TimerChange) {
	d := l.timers[c.Timer]
	if c.Stop || l.closed {
		l.disarm(c.Timer, d)
		return
	}
	at := time.Now().Add(c.After)
	if d != nil && !at.Before(d.fires) {
		d.at = at
		return
	}
	l.disarm(c.Timer, d)
	l.arm(c.Timer, at)
}

func (l *Live) arm(t Timer, at time.Time) {
	d := &deadline{at: at, fires: at}
	l.timers[t] = d
	l.options.Work.Add(1)
	d.timer = time.AfterFunc(time.Until(at), func() { l.fired(t, d) })
}

func (l *Live) disarm(t Timer, d *deadline) {
	if d == nil {
		return
	}
	delete(l.timers, t)
	if d.timer.Stop() {
		l.options.Work.Done()
	}
}

// fired runs on the timer's goroutine.
func (l *Live) fired(t Timer, d *deadline) {
	defer l.options.Work.Done()
	l.options.Host.Lock()
	defer l.options.Host.Unlock()
	if l.timers[t] != d {
		return // stopped or set anew while this goroutine waited for the lock
	}
	delete(l.timers, t)
	if time.Now().Before(d.at) {
		l.arm(t, d.at)
		return
	}
	before := l.machine.State()
	l.apply(before, l.machine.Expired(t))
}
