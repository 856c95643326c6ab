package api

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// zeros is a batch that becomes so many bytes.
func zeros(t *testing.T, size int) []byte {
	t.Helper()
	builder := batch.NewBuilder()
	builder.Compression = batch.Gzip
	builder.Add(1, []byte("k"), make([]byte, size))
	made, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(made)
}

// Records that become large wait for one of few slots, and give up with their client; usual ones go on.
func TestLargeRecordsWaitForASlot(t *testing.T) {
	slots, rules := newDecodeSlots(), batch.DefaultRules()
	rules.Compacted = true
	for range largeDecodes {
		if _, err := slots.takeLarge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := slots.validate(t.Context(), zeros(t, 1000), rules, nil); err != nil {
		t.Errorf("usual records: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := slots.validate(gone, zeros(t, smallDecoded+1), rules, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("large records without a slot: %v", err)
	}
	<-slots.large
	if _, err := slots.validate(t.Context(), zeros(t, smallDecoded+1), rules, nil); err != nil {
		t.Errorf("large records with a slot: %v", err)
	}
	if len(slots.small) != 0 || len(slots.large) != largeDecodes-1 {
		t.Errorf("%d and %d slots are taken", len(slots.small), len(slots.large))
	}
}
