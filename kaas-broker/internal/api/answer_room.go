package api

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kerr"
)

// maxAnswer bounds what one request is told of groups, offsets, transactions or producers, in bytes. A few bytes asked stand for megabytes each, and may be the
// same again and again: 40 KB of questions had 4 GB of answers. Kafka has no bound but what its memory, or an answer of 2 GiB, does not hold.
const maxAnswer = 64 << 20

// rowBytes is about what a row takes beside its texts.
const rowBytes = 64

// errAnswerTooLarge answers what has no room: ask for less at once.
var errAnswerTooLarge = refuse(kerr.InvalidRequest, "the answer would take more than %d bytes, ask for less at once", maxAnswer)

// answerRoom is what the answer to one request may still take. The zero value is all of it. It is safe for concurrent use.
type answerRoom struct {
	taken atomic.Int64
}

// left is an error once nothing more has room, before anything is looked up for it.
func (a *answerRoom) left() error { return a.take(0) }

// take takes room for so many bytes. What finds none ends it for all that follows: they would be looked up for nothing.
func (a *answerRoom) take(bytes int) error {
	if a.taken.Add(int64(bytes)) < maxAnswer {
		return nil
	}
	return errAnswerTooLarge
}
