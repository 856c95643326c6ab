package protocol

import "sync"

// smallRequest is the size in bytes up to which a connection's only request is read whatever the total.
const smallRequest = 64 << 10

// budget bounds the bytes of all unanswered requests of a server. Waiters are served in order of arrival, so
// that small requests do not starve a large one.
type budget struct {
	limit int64

	mutex   sync.Mutex
	used    int64
	waiters []*reservation
}

// reservation is a place in the queue; granted is closed when the bytes are taken.
type reservation struct {
	size    int64
	granted chan struct{}
}

// take charges size bytes at once, whatever is in use.
func (b *budget) take(size int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used += size
}

// reserve charges size bytes: at once (nil), or when the returned reservation is granted.
func (b *budget) reserve(size int64) *reservation {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if len(b.waiters) == 0 && b.fits(size) {
		b.used += size
		return nil
	}
	waiter := &reservation{size: size, granted: make(chan struct{})}
	b.waiters = append(b.waiters, waiter)
	return waiter
}

// cancel gives up a reservation, whether it has been granted meanwhile or not.
func (b *budget) cancel(waiter *reservation) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for at, queued := range b.waiters {
		if queued == waiter {
			b.waiters = append(b.waiters[:at], b.waiters[at+1:]...)
			b.grantLocked()
			return
		}
	}
	b.used -= waiter.size
	b.grantLocked()
}

// release gives charged bytes back and grants what fits now.
func (b *budget) release(size int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used -= size
	b.grantLocked()
}

func (b *budget) grantLocked() {
	for len(b.waiters) > 0 && b.fits(b.waiters[0].size) {
		b.used += b.waiters[0].size
		close(b.waiters[0].granted)
		b.waiters[0] = nil
		b.waiters = b.waiters[1:]
	}
}

// fits admits a request above the whole limit when nothing else is in flight: it would wait for ever.
func (b *budget) fits(size int64) bool {
	return b.used == 0 || b.used+size <= b.limit
}
