package protocol

import (
	"slices"
	"sync"
	"time"
)

// smallRequest is the number of bytes up to which a connection's only request is read whatever the total.
const smallRequest = 64 << 10

// budget bounds the bytes of all unanswered requests of a server. Waiters are served in order of arrival, so
// that small requests do not starve a large one. One request may pass the limit.
type budget struct {
	limit int64

	mutex   sync.Mutex
	used    int64
	waited  int64 // of the used bytes, those that were waited for
	held    int64 // of the waited ones, those of requests that wait for more
	waiters []*reservation
}

// share is what one request has of a budget.
type share struct {
	bytes  int64
	waited int64 // of these, what had to wait for room, or would have had to
}

// reservation is a place in the queue; granted is closed when the bytes are taken.
type reservation struct {
	size    int64
	held    int64 // what the same request has waited for before
	since   time.Time
	granted chan struct{}
}

// take charges size bytes at once, whatever is in use: what is small, and may stay for as long as a client likes.
func (b *budget) take(size int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used += size
}

// reserve charges size bytes: at once (nil), or when the returned reservation is granted.
func (b *budget) reserve(size int64) *reservation { return b.reserveMore(0, size) }

// reserveMore is reserve for a request that has waited for held bytes before, and keeps them while it waits.
func (b *budget) reserveMore(held, size int64) *reservation {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.waiters) == 0 && b.used+size <= b.limit {
		b.used += size
		b.waited += size
		return nil
	}
	waiter := &reservation{size: size, held: held, since: time.Now(), granted: make(chan struct{})}
	b.waiters = append(b.waiters, waiter)
	b.held += held
	b.grantLocked()
	if b.fulfilled(waiter) {
		return nil
	}
	return waiter
}

func (b *budget) fulfilled(waiter *reservation) bool {
	select {
	case <-waiter.granted:
		return true
	default:
		return false
	}
}

// pressed reports whether somebody has waited for room for so long.
func (b *budget) pressed(wait time.Duration) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.waiters) > 0 && time.Since(b.waiters[0].since) >= wait
}

// cancel gives up a reservation, whether it has been granted meanwhile or not.
func (b *budget) cancel(waiter *reservation) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for at, queued := range b.waiters {
		if queued == waiter {
			b.waiters = append(b.waiters[:at], b.waiters[at+1:]...)
			b.held -= waiter.held
			b.grantLocked()
			return
		}
	}
	b.used -= waiter.size
	b.waited -= waiter.size
	b.grantLocked()
}

// release gives charged bytes back and grants what fits now.
func (b *budget) release(s share) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used -= s.bytes
	b.waited -= s.waited
	b.grantLocked()
}

func (b *budget) grantLocked() {
	for len(b.waiters) > 0 {
		next := 0
		if b.used+b.waiters[0].size > b.limit {
			if b.waited != b.held {
				return
			}
			next = b.furthest()
		}
		waiter := b.waiters[next]
		b.waiters = slices.Delete(b.waiters, next, next+1)
		b.used += waiter.size
		b.waited += waiter.size
		b.held -= waiter.held
		close(waiter.granted)
	}
}

// furthest is the waiter that has most already. It passes the limit when everything that was waited for belongs to requests that wait again: they would wait
// for one another for ever, and what was not waited for may be parked Fetch requests, of which there always are some. A request may wait several times, and one that has passed the limit must be the one that does so again: in turn, all of them would.
func (b *budget) furthest() int {
	furthest := 0
	for at, waiter := range b.waiters {
		if waiter.held > b.waiters[furthest].held {
			furthest = at
		}
	}
	return furthest
}
