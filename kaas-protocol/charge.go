package protocol

import "context"

// plainWeight is how many times its size a request without records is charged while it is worked on: decoded, and with its answer, it takes
// that much and more, where records are used as they came.
const plainWeight = 32

// charge is what one request has taken of the server's budgets.
type charge struct{ records, plain share }

func (s *Server) release(c charge) {
	if c.records.bytes > 0 {
		s.records.release(c.records)
	}
	if c.plain.bytes > 0 {
		s.plain.release(c.plain)
	}
}

// weigh charges what a large request without records takes once it is decoded. A pipelined one may wait for its answer for as long as its
// client likes, so that it must not hold more room than its bytes.
func (c *connection) weigh(ctx context.Context, chosen *row, size int, charged *charge) error {
	if size <= smallRequest || chosen.Pipelined {
		return nil
	}
	more := (plainWeight - 1) * int64(size)
	if waiter := c.server.plain.reserveMore(charged.plain.waited, more); waiter != nil {
		if err := c.watch(ctx, waiter.granted, nil); err != nil {
			c.server.plain.cancel(waiter)
			return err
		}
	}
	charged.plain.add(more)
	return nil
}

// add takes up bytes that were reserved.
func (s *share) add(bytes int64) {
	s.bytes += bytes
	s.waited += bytes
}
