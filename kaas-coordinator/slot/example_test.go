package slot_test

import (
	"context"
	"fmt"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A slot over memory: one change, made durable.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// durable
	// {group billing  0 0} {"version":1}
}

func example(ctx context.Context) error {
	log, err := storage.OpenLog(ctx, vfs.NewMem(1<<20), "slot", storage.WithConfig(slot.Config()))
	if err != nil {
		return err
	}
	show := func(r slot.Record, _ int64) error {
		fmt.Println(r.Key, string(r.Value))
		return nil
	}
	s, err := slot.Open(ctx, log.Partition(), show, slot.Options{}) // nothing to replay yet
	if err != nil {
		return err
	}
	s.Lock()
	pending, err := s.Append(slot.Record{Key: slot.GroupKey("billing"), Value: []byte(`{"version":1}`)})
	s.Unlock()
	if err != nil {
		return err
	}
	if err := pending.Wait(ctx); err != nil {
		return err
	}
	fmt.Println("durable")
	s.Close()
	if s, err = slot.Open(ctx, log.Partition(), show, slot.Options{}); err != nil {
		return err
	}
	s.Close()
	return log.Close(ctx)
}
