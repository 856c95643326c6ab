package producerids

import (
	"context"
	"errors"
	"fmt"
)

// ErrEmptyBlock is what a source that gave no ids is answered with.
var ErrEmptyBlock = errors.New("block without producer ids")

// Source gives blocks of producer ids that nobody else ever gets, such as clusterdir.Dir.
type Source interface {
	NextProducerBlock(ctx context.Context) (first, count int64, err error)
}

// Allocator gives the ids of a block one by one and asks for the next block when it is used up. What is left of a block when
// the process ends is lost. It is safe for concurrent use.
type Allocator struct {
	source Source
	turn   chan struct{} // holds one token for whoever may look at the block; a channel, so that waiting ends with a context
	next   int64
	end    int64
}

// New returns an allocator without a block.
func New(source Source) *Allocator {
	return &Allocator{source: source, turn: make(chan struct{}, 1)}
}

// Next returns an id that was never given before. It blocks while a block is being taken. The error is the source's or the context's.
func (a *Allocator) Next(ctx context.Context) (int64, error) {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for a producer id: %w", context.Cause(ctx))
	}
	defer func() { <-a.turn }()
	if a.next == a.end {
		first, count, err := a.source.NextProducerBlock(ctx)
		if err != nil {
			return 0, err
		}
		if count <= 0 {
			return 0, ErrEmptyBlock
		}
		a.next, a.end = first, first+count
	}
	id := a.next
	a.next++
	return id, nil
}
