package api

import (
	"context"
	"errors"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// Compressed records that have to be looked into take memory that their client decides on: a few kilobytes become 128 MiB. So only so many are looked
// into at the same time. Those of a usual size have slots of their own, so that they do not wait behind the others.
const (
	smallDecodes = 16
	largeDecodes = 2
	// smallDecoded is the size in bytes that usual records have at most without their compression.
	smallDecoded = 8 << 20
)

// decodeSlots bounds the memory that compressed records take when they are decompressed.
type decodeSlots struct {
	small, large chan struct{}
}

func newDecodeSlots() decodeSlots {
	return decodeSlots{small: make(chan struct{}, smallDecodes), large: make(chan struct{}, largeDecodes)}
}

// validate is batch.Validate. Records that turn out not to be small are decompressed a second time when a large slot is free. The error is also that
// of ctx.
func (d decodeSlots) validate(ctx context.Context, records []byte, rules batch.Rules, tripwires *batch.Tripwires) (batch.Batch, error) {
	if !rules.Decompresses(records) {
		return batch.Validate(records, rules, tripwires)
	}
	release, err := take(ctx, d.small)
	if err != nil {
		return nil, err
	}
	limited := rules
	limited.MaxDecompressed = smallDecoded
	valid, err := batch.Validate(records, limited, tripwires)
	release()
	if !errors.Is(err, batch.ErrTooLarge) {
		return valid, err
	}
	if release, err = d.takeLarge(ctx); err != nil {
		return nil, err
	}
	defer release()
	return batch.Validate(records, rules, tripwires)
}

// takeLarge waits for a slot in which records may become as large as package batch lets them.
func (d decodeSlots) takeLarge(ctx context.Context) (release func(), err error) {
	return take(ctx, d.large)
}

func take(ctx context.Context, slots chan struct{}) (release func(), err error) {
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
