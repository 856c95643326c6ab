package group

import (
	"context"
	"time"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Answer is a result with what must be true before it may be sent.
type Answer[T any] struct {
	Result T
	Rests  slot.Pending // to be durable
	At     time.Time    // when the answer was made: the claim must be checked after it
}

// Parked is a request that is answered later.
type Parked[T any] struct{ answer chan Answer[T] }

func newParked[T any]() *Parked[T] { return &Parked[T]{answer: make(chan Answer[T], 1)} }

// give never blocks: each request is answered once, whether somebody waits or not.
func (p *Parked[T]) give(a Answer[T]) { p.answer <- a }

// Wait waits for the answer. The end of ctx ends the wait; to the group the request stays parked, as in Kafka, where a client that has gone is noticed
// by its session only.
func (p *Parked[T]) Wait(ctx context.Context) (Answer[T], error) {
	select {
	case a := <-p.answer:
		return a, nil
	default:
	}
	select {
	case a := <-p.answer:
		return a, nil
	case <-ctx.Done():
		return Answer[T]{}, context.Cause(ctx)
	}
}
