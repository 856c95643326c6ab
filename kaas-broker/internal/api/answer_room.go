package api

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kaas-rs/kaas/kaas-protocol"
)

const (
	// maxAnswer bounds what one request is told of groups, offsets, transactions or producers, in bytes. A few bytes asked stand for megabytes each, and may
	// be the same again and again: 40 KB of questions had 4 GB of answers. Kafka has no bound but what its memory, or an answer of 2 GiB, does not hold.
	maxAnswer = 64 << 20
	// freeAnswer is what an answer takes without being counted. Nearly all are smaller.
	freeAnswer = 1 << 20
	// rowBytes is about what a row takes beside its texts; on its way it is there twice, as a message and encoded.
	rowBytes = 64
)

// errAnswerTooLarge answers what has no room: ask for less at once.
var errAnswerTooLarge = refuse(kerr.InvalidRequest, "the answer would take more than %d bytes, ask for less at once", maxAnswer)

// countAnswer waits until an answer of about so many bytes has room beside all others, or clients that ask together for what is allowed to each would fill the
// memory. The error, that of Charge, ends the connection.
func countAnswer(ctx context.Context, r *protocol.Request, bytes int) error {
	if bytes < freeAnswer {
		return nil
	}
	return r.Charge(ctx, 2*int64(bytes))
}

// answerRoom is what an answer takes whose size shows only while it is made. It is safe for concurrent use.
type answerRoom struct {
	request *protocol.Request
	mutex   sync.Mutex
	taken   int // bytes
	counted int // bytes that were
}

func roomFor(r *protocol.Request) *answerRoom { return &answerRoom{request: r} }

// left is an error once nothing more has room, before anything is looked up for it.
func (a *answerRoom) left() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.bounded()
}

// take takes room for so many bytes. What finds none ends it for all that follows: they would be looked up for nothing. The first finds some in any case, since
// who asks for it alone cannot ask for less. An answer that turns out to be large counts as the largest until fit: if it counted as it grew, all of them would
// have a part and wait for the rest. The error is errAnswerTooLarge, or that of Charge.
func (a *answerRoom) take(ctx context.Context, bytes int) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	first := a.taken == 0
	a.taken += bytes
	if err := a.bounded(); err != nil && !first {
		return err
	}
	if a.counted > 0 || a.taken < freeAnswer {
		return nil
	}
	most := max(maxAnswer, a.taken)
	if err := countAnswer(ctx, a.request, most); err != nil {
		return err
	}
	a.counted = most
	return nil
}

// fit gives back what the answer has not needed, when it has been made.
func (a *answerRoom) fit() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.request.Refund(2 * int64(max(a.counted-a.taken, 0)))
}

func (a *answerRoom) bounded() error {
	if a.taken >= maxAnswer {
		return errAnswerTooLarge
	}
	return nil
}
