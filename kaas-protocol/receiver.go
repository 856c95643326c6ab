package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"time"
)

// prefixSize is the number of bytes in front of a frame.
const prefixSize = 4

// receiveFloor is the slowest rate, in bytes per second, at which a large request may arrive.
const receiveFloor = 64 << 10

// receiver is the reading side of the socket with its deadlines.
type receiver struct {
	connection *connection
	buffered   *bufio.Reader
	body       bool      // in the body of a request, not between two
	room       *budget   // of which the body holds bytes
	until      time.Time // when the piece of the body must have arrived
	progressed bool      // bytes of it have come since the deadline was armed
	armed      time.Time // the socket's read deadline; zero is none
}

// awaitRequest arms the idle deadline, unless bytes of the next request are there already.
func (r *receiver) awaitRequest() error {
	wasBody := r.body
	r.body = false
	idle := r.connection.server.limits.MaxIdle
	if r.buffered.Buffered() < prefixSize && (wasBody || r.armed.IsZero()) && idle > 0 {
		r.arm(time.Now().Add(idle))
	} else if wasBody {
		r.arm(time.Time{})
	}
	return r.connection.stopped()
}

// expectBody bounds the time of the next bytes of a body, unless they have arrived already.
func (r *receiver) expectBody(size int) error {
	if r.buffered.Buffered() >= size {
		return nil
	}
	now := time.Now()
	r.body = true
	r.until = now.Add(r.connection.server.limits.ReceiveTimeout + time.Duration(size/receiveFloor)*time.Second)
	return r.lookAgain(now)
}

// lookAgain arms the deadline of a body.
func (r *receiver) lookAgain(now time.Time) error {
	r.progressed = false
	look := now.Add(lookInterval)
	if look.After(r.until) {
		look = r.until
	}
	r.arm(look)
	return r.connection.stopped()
}

// stalled decides about a body that has stopped arriving: it has its time, unless others wait for the room that it holds.
func (r *receiver) stalled() error {
	now := time.Now()
	if !now.Before(r.until) || !r.progressed && r.room.pressed(lookInterval) {
		return errSlowRequest
	}
	return r.lookAgain(now)
}

func (r *receiver) arm(deadline time.Time) {
	r.armed = deadline
	_ = r.connection.socket.SetReadDeadline(deadline)
}

// Read reads from the stream. A deadline that passes is looked into: it may be the server's drain, and it may
// have been armed before the connection was last in use.
func (r *receiver) Read(p []byte) (int, error) {
	for {
		n, err := r.connection.stream.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			r.progressed = true
			return n, err
		}
		if err := r.expired(); err != nil {
			return 0, err
		}
	}
}

// expired arms the deadline anew, or returns why the connection ends.
func (r *receiver) expired() error {
	if err := r.connection.stopped(); err != nil {
		return err
	}
	if r.body {
		return r.stalled()
	}
	now, idle := time.Now(), r.connection.server.limits.MaxIdle
	since, quiet := r.connection.pipeline.idleSince()
	switch {
	case !quiet:
		// Something is outstanding: look again soon, in comparison with the idle time.
		r.arm(now.Add(max(idle/10, time.Second)))
	case now.Before(since.Add(idle)):
		r.arm(since.Add(idle))
	default:
		return fmt.Errorf("%w: %s", errIdle, idle)
	}
	// A drain that came meanwhile has set a deadline that was just replaced.
	return r.connection.stopped()
}
