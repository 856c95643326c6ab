package metastore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// What is kept about a deleted topic is forgotten at last, by the next process if need be.
func TestDeletedTopicIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem(16 << 20)
		errBusy := errors.New("busy")
		var forgotten []uuid.UUID
		refused := errBusy
		forget := func(o *metastore.Options) {
			o.Forget = func(_ context.Context, topic string, id uuid.UUID) error {
				if topic != "events" {
					t.Errorf("forget %s", topic)
				}
				if refused == nil {
					forgotten = append(forgotten, id)
				}
				return refused
			}
		}
		first := start(t, fs, forget)
		topic, err := first.CreateTopic(t.Context(), metastore.NewTopic{Name: "events", Partitions: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := first.DeleteTopic(t.Context(), "events"); err != nil {
			t.Fatal(err)
		}
		first.Sweep(t.Context())
		time.Sleep(time.Minute)
		first.Sweep(t.Context())
		if len(forgotten) != 0 {
			t.Fatalf("forgotten %v", forgotten)
		}
		refused = nil
		second := start(t, fs, forget)
		second.Sweep(t.Context())
		time.Sleep(time.Minute)
		second.Sweep(t.Context())
		if len(forgotten) != 1 || forgotten[0] != topic.ID {
			t.Errorf("forgotten %v, want %v once", forgotten, topic.ID)
		}
	})
}
