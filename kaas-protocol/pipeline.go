package protocol

import (
	"sync"
	"time"
)

// pipeline is what a connection's reader and writer tell each other: what is outstanding, and until when the
// connection is muted. The reader alone adds, the writer alone removes.
type pipeline struct {
	maxRequests int
	maxBytes    int64

	// changed holds one token when something was removed since the reader last looked.
	changed chan struct{}

	mutex      sync.Mutex
	requests   int
	barriers   int // outstanding requests that are not pipelined
	bytes      int64
	mutedUntil time.Time
	lastActive time.Time
}

func newPipeline(limits Limits, now time.Time) *pipeline {
	return &pipeline{
		maxRequests: limits.InFlightRequests,
		maxBytes:    limits.InFlightBytes,
		changed:     make(chan struct{}, 1),
		lastActive:  now,
	}
}

// readiness is the answer to "may the reader go on": yes, or look again after a change or at the given time
// (zero: only after a change).
type readiness struct {
	ready bool
	again time.Time
}

// mayRead reports whether another frame may be taken from the socket.
func (p *pipeline) mayRead(now time.Time) readiness {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if now.Before(p.mutedUntil) {
		return readiness{again: p.mutedUntil}
	}
	return readiness{ready: p.requests < p.maxRequests}
}

// hasRoom reports whether a frame of size bytes fits beside what is outstanding. The only request always does.
func (p *pipeline) hasRoom(size int) readiness {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return readiness{ready: p.requests == 0 || p.bytes+int64(size) <= p.maxBytes}
}

// mayStart reports whether a request may start now: a pipelined one as soon as everything outstanding is
// pipelined too, any other when nothing is outstanding. The mute is looked at again because the reader may
// have been waiting in the socket when it began.
func (p *pipeline) mayStart(pipelined bool, now time.Time) readiness {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.barriers > 0 || (!pipelined && p.requests > 0) {
		return readiness{}
	}
	if now.Before(p.mutedUntil) {
		return readiness{again: p.mutedUntil}
	}
	return readiness{ready: true}
}

// begin counts a request as outstanding.
func (p *pipeline) begin(x *exchange) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.requests++
	p.bytes += int64(x.request.Size)
	if !x.pipelined {
		p.barriers++
	}
}

// end takes a request off once its response has been sent, mutes the connection and wakes the reader.
func (p *pipeline) end(x *exchange, throttle time.Duration, now time.Time) {
	p.mutex.Lock()
	p.requests--
	p.bytes -= int64(x.request.Size)
	if !x.pipelined {
		p.barriers--
	}
	p.lastActive = now
	if until := now.Add(throttle); throttle > 0 && until.After(p.mutedUntil) {
		p.mutedUntil = until
	}
	p.mutex.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// idleSince is the moment from which the connection counts as idle; ok is false while something is outstanding.
func (p *pipeline) idleSince() (since time.Time, ok bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.mutedUntil.After(p.lastActive) {
		return p.mutedUntil, p.requests == 0
	}
	return p.lastActive, p.requests == 0
}

// outstanding is the number of unanswered requests.
func (p *pipeline) outstanding() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.requests
}
