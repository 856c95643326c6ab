package ownership_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func claimed(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "leader.") })
}

// countChanges counts from now on what changes files.
func (b *bench) countChanges() *atomic.Int64 {
	var changes atomic.Int64
	b.onFile(func(op vfs.Op) error {
		if !op.After && op.Kind.Mutating() {
			changes.Add(1)
		}
		return nil
	})
	return &changes
}

func TestConfigurationReachesPartitions(t *testing.T) {
	bubble(t, ownership.Options{MaxSegmentBytes: 1 << 20}, func(b *bench) {
		topic := b.publish("t", 2)
		if got := b.led(topic, 1).Config(); got.SegmentBytes != 1<<20 || got.RetentionAge != 7*24*time.Hour {
			t.Errorf("%+v", got)
		}
		topic = b.change(topic, func(topic *catalog.Topic) {
			topic.Effective = b.effective(map[string]string{"retention.ms": "5000", "segment.bytes": "1000"})
		})
		synctest.Wait()
		for index := range topic.Partitions {
			if got := b.led(topic, index).Config(); got.SegmentBytes != 1000 || got.RetentionAge != 5*time.Second {
				t.Errorf("partition %d: %+v", index, got)
			}
		}
	})
}

func TestConfigurationThatChangesDuringTheTakeover(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		gate := make(chan struct{})
		b.onFile(func(op vfs.Op) error {
			if _, yes := claims(op); yes {
				<-gate
			}
			return nil
		})
		topic := b.publish("t", 1)
		synctest.Wait()
		b.change(topic, func(topic *catalog.Topic) { topic.Effective = b.effective(map[string]string{"retention.ms": "5000"}) })
		synctest.Wait()
		close(gate)
		if got := b.led(topic, 0).Config().RetentionAge; got != 5*time.Second {
			t.Errorf("retention %s", got)
		}
	})
}

func TestAbandonClosesAndWritesNothing(t *testing.T) {
	for _, seen := range []bool{false, true} {
		t.Run(map[bool]string{false: "before Run has seen it leave", true: "after"}[seen], func(t *testing.T) {
			bubble(t, ownership.Options{}, func(b *bench) {
				topic := b.publish("t", 3)
				var open []*storage.Partition
				for index := range topic.Partitions {
					open = append(open, b.led(topic, index))
					must(t, write(t, open[index]))
				}
				synctest.Wait()
				changes := b.countChanges()
				closing := make(chan struct{})
				b.mu.Lock()
				count := b.hook
				b.hook = func(op vfs.Op) error {
					if op.Kind == vfs.OpCloseClaim && !op.After {
						<-closing
					}
					return count(op)
				}
				b.mu.Unlock()
				b.catalog.Update(nil, []string{"t"})
				if seen {
					synctest.Wait()
				}
				returned := make(chan error, 1)
				go func() { returned <- b.Abandon(context.Background(), topic) }()
				synctest.Wait()
				if len(returned) > 0 {
					t.Error("returned while files were open")
				}
				impatient, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				if err := b.Abandon(impatient, topic); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("impatient: %v", err)
				}
				close(closing)
				must(t, <-returned)
				for _, p := range open {
					<-p.Closed()
				}
				if n := changes.Load(); n != 0 {
					t.Errorf("%d changes were made to files", n)
				}
				b.expect(topic, 0, ownership.ErrUnknownPartition)
				must(t, b.Abandon(context.Background(), topic))
			})
		})
	}
}

func TestAbandonEndsTakeovers(t *testing.T) {
	bubble(t, ownership.Options{Parallel: 1}, func(b *bench) {
		gate := make(chan struct{})
		b.onFile(func(op vfs.Op) error {
			if _, yes := claims(op); yes {
				<-gate
			}
			return nil
		})
		topic := b.publish("t", 3)
		waited := make(chan error, 1)
		go func() {
			_, err := b.Await(context.Background(), topic, 2)
			waited <- err
		}()
		synctest.Wait()
		b.catalog.Update(nil, []string{"t"})
		began := time.Now()
		must(t, b.Abandon(context.Background(), topic))
		if err := <-waited; !errors.Is(err, ownership.ErrUnknownPartition) {
			t.Errorf("who waited was told %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("took %s", took)
		}
		close(gate)
		time.Sleep(time.Minute)
		b.expect(topic, 0, ownership.ErrUnknownPartition)
	})
}

func TestShutdownHandsOver(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		topic := b.publish("t", 3)
		for index := range topic.Partitions {
			must(t, write(t, b.led(topic, index)))
		}
		must(t, b.Shutdown(context.Background()))
		for index := range topic.Partitions {
			if names := b.names(topic, index); claimed(names) {
				t.Errorf("partition %d has a claim still: %v", index, names)
			}
			b.expect(topic, index, storage.ErrClosed)
		}
		if _, err := b.Await(context.Background(), topic, 0); !errors.Is(err, storage.ErrClosed) {
			t.Errorf("await: %v", err)
		}
		if h := b.Health(); h.Assigned != 0 {
			t.Errorf("%+v", h)
		}
		next := b.steal(topic, 0)
		defer next.Abandon()
		if end := next.Offsets().HighWatermark; end != 1 {
			t.Errorf("high watermark %d", end)
		}
	})
}

func TestShutdownTellsWhatItCouldNotHandOver(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		topic := b.publish("t", 2)
		for index := range topic.Partitions {
			must(t, write(t, b.led(topic, index)))
		}
		synctest.Wait()
		b.onFile(func(op vfs.Op) error {
			if op.Kind == vfs.OpRename && strings.HasSuffix(op.Path, "/1") {
				return errDisk
			}
			return nil
		})
		if err := b.Shutdown(context.Background()); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "t-1") || strings.Contains(err.Error(), "t-0") {
			t.Errorf("error %v", err)
		}
		if claimed(b.names(topic, 0)) || !claimed(b.names(topic, 1)) {
			t.Errorf("claims: %v, %v", b.names(topic, 0), b.names(topic, 1))
		}
	})
}

func TestShutdownDoesNotWaitForAHungVolume(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		gate := make(chan struct{})
		hung := vfs.Hook(func(op vfs.Op) error {
			if op.Kind == vfs.OpOpenDir && !op.After {
				<-gate
			}
			return nil
		})
		topic := b.publish("t", 1)
		b.led(topic, 0)
		other := &catalog.Topic{Name: "u", ID: topic.ID, Partitions: 1, Effective: topic.Effective}
		other.ID[0] ^= 1
		b.onFile(hung)
		b.catalog.Update([]*catalog.Topic{other}, nil)
		b.expect(other, 0, ownership.ErrTakingOver)
		began := time.Now()
		must(t, b.Shutdown(context.Background()))
		if took := time.Since(began); took != 0 {
			t.Errorf("took %s", took)
		}
		close(gate)
		synctest.Wait()
	})
}

func TestCloseWritesNothing(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		topic := b.publish("t", 2)
		p := b.led(topic, 0)
		must(t, write(t, p))
		synctest.Wait()
		changes := b.countChanges()
		b.Close()
		<-p.Closed()
		if n := changes.Load(); n != 0 {
			t.Errorf("%d changes were made to files", n)
		}
		if !claimed(b.names(topic, 0)) {
			t.Error("the claim was released")
		}
		b.expect(topic, 0, storage.ErrClosed)
	})
}
