package protocol

import (
	"sync"
	"time"
)

const (
	// sendFloor is the slowest rate, in bytes per second, at which a client takes an answer that holds room for which others wait.
	sendFloor = 64 << 10
	// paceWindow is the time over which that is measured: the kernel takes megabytes at once, and then nothing is read for long.
	paceWindow = 2 * lookInterval
)

// pace watches how fast a client takes one answer. A nil pace is not in a hurry.
type pace struct {
	room *budget // of which the request holds bytes

	mutex sync.Mutex // TLS also writes what reading asks for
	since time.Time
	taken int // bytes since then
}

// newPace is nil for an answer that holds no more than every request may.
func newPace(room *budget, held int64) *pace {
	if held <= smallRequest {
		return nil
	}
	return &pace{room: room, since: time.Now()}
}

// add takes note of bytes that the client has taken.
func (p *pace) add(bytes int) {
	if p != nil {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.taken += bytes
	}
}

// kept is false when others wait, and the client has been too slow.
func (p *pace) kept() bool {
	if p == nil {
		return true
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	window := time.Since(p.since)
	if window < paceWindow {
		return true
	}
	slow := float64(p.taken) < sendFloor*window.Seconds()
	p.since, p.taken = time.Now(), 0
	return !slow || !p.room.pressed(lookInterval)
}
