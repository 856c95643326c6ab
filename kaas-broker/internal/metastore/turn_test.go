package metastore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/metastore"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// A change whose client gives up while another one hangs is not made when its turn comes.
func TestNobodyIsSurprisedByALateChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, hung := vfs.NewMem(0), make(chan struct{})
		hang := false
		p := start(t, vfs.NewFault(memory, func(op vfs.Op) error {
			if hang && op.Kind == vfs.OpSync && !op.After {
				<-hung
			}
			return nil
		}))
		p.create(t, "old", 1, nil)
		hang = true
		first := make(chan error, 1)
		leave, left := context.WithTimeout(t.Context(), time.Second)
		defer left()
		go func() {
			_, err := p.CreateTopic(leave, metastore.NewTopic{Name: "begun", Partitions: 1})
			first <- err
		}()
		synctest.Wait()
		for name, change := range map[string]func(ctx context.Context) error{
			"create": func(ctx context.Context) error {
				_, err := p.CreateTopic(ctx, metastore.NewTopic{Name: "late", Partitions: 1})
				return err
			},
			"grow": func(ctx context.Context) error { _, err := p.CreatePartitions(ctx, "old", 2, false); return err },
			"alter": func(ctx context.Context) error {
				_, err := p.AlterTopicConfig(ctx, "old", false, func(c map[string]string) error { c["retention.ms"] = "6"; return nil })
				return err
			},
			"delete": func(ctx context.Context) error { return p.DeleteTopic(ctx, "old") },
		} {
			waiting, end := context.WithTimeout(t.Context(), 10*time.Second)
			if err := change(waiting); !errors.Is(err, metastore.ErrNotBegun) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			end()
		}
		close(hung)
		if err := <-first; err != nil {
			t.Errorf("what had begun when its client left: %v", err)
		}
		p.topic(t, "begun")
		p.missing(t, "late")
		if old := p.topic(t, "old"); old.Partitions != 1 || len(old.Overrides) > 0 {
			t.Errorf("%+v", old)
		}
	})
}
