package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-broker/internal/catalog"
	"github.com/kaas-rs/kaas/kaas-broker/internal/ownership"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/topicdir"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

func TestFollowsTheCatalog(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		topic := b.publish("t", 2)
		for index := range topic.Partitions {
			b.led(topic, index)
		}
		b.expect(topic, 2, ownership.ErrUnknownPartition)
		b.expect(topic, -1, ownership.ErrUnknownPartition)
		grown := topic.Clone()
		grown.Partitions = 3
		must(t, topicdir.Create(context.Background(), b.volume, dirs(grown), 2, 0))
		grown = b.change(topic, func(t *catalog.Topic) { t.Partitions = 3 })
		b.expect(grown, 2, nil)
		if h := b.Health(); h.Assigned != 3 || h.Served != 3 || h.Recovering != 0 || len(h.Failed) != 0 {
			t.Errorf("%+v", h)
		}
		b.catalog.Update(nil, []string{"t"})
		for index := range grown.Partitions {
			b.expect(grown, index, ownership.ErrUnknownPartition)
		}
		if h := b.Health(); h.Assigned != 0 {
			t.Errorf("%+v", h)
		}
	})
}

func TestTakeoversAreBounded(t *testing.T) {
	bubble(t, ownership.Options{Parallel: 3}, func(b *bench) {
		var mu sync.Mutex
		running, most, total := 0, 0, 0
		gate := make(chan struct{})
		b.onFile(func(op vfs.Op) error {
			if _, yes := claims(op); !yes {
				return nil
			}
			mu.Lock()
			running, total = running+1, total+1
			most = max(most, running)
			mu.Unlock()
			<-gate
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		topic := b.publish("t", 10)
		synctest.Wait()
		if running != 3 {
			t.Errorf("%d takeovers at a time", running)
		}
		if h := b.Health(); h.Recovering != 10 {
			t.Errorf("%+v", h)
		}
		close(gate)
		for index := range topic.Partitions {
			b.led(topic, index)
		}
		if most != 3 || total != 10 {
			t.Errorf("%d takeovers, at most %d at a time", total, most)
		}
	})
}

func TestAskedForFirst(t *testing.T) {
	bubble(t, ownership.Options{Parallel: 1}, func(b *bench) {
		var order []string
		gate := make(chan struct{})
		b.onFile(func(op vfs.Op) error {
			if partition, yes := claims(op); yes {
				order = append(order, partition)
				<-gate
			}
			return nil
		})
		topic := b.publish("t", 5)
		synctest.Wait()
		b.expect(topic, 3, ownership.ErrTakingOver)
		go func() { _, _ = b.Await(context.Background(), topic, 4) }()
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if want := []string{"0", "3", "4", "1", "2"}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}

func TestRetryDelays(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		began := time.Now()
		var seconds []int
		b.onFile(func(op vfs.Op) error {
			if _, yes := claims(op); !yes {
				return nil
			}
			seconds = append(seconds, int(time.Since(began)/time.Second))
			return errDisk
		})
		topic := b.publish("t", 1)
		_, err := b.Await(context.Background(), topic, 0)
		if !errors.Is(err, ownership.ErrUnavailable) || !errors.Is(err, errDisk) || time.Since(began) != 0 {
			t.Errorf("first failure: %v after %s", err, time.Since(began))
		}
		time.Sleep(125 * time.Second)
		synctest.Wait()
		if want := "[0 1 3 7 15 31 61 91 121]"; fmt.Sprint(seconds) != want {
			t.Errorf("tried at %v s, want %s", seconds, want)
		}
		if h := b.Health(); len(h.Failed) != 1 || h.Failed[0].Partition != "t-0" || !strings.Contains(h.Failed[0].Reason, errDisk.Error()) || h.Stalled {
			t.Errorf("%+v", h)
		}
		b.onFile(nil)
		time.Sleep(30 * time.Second)
		b.expect(topic, 0, nil)
		if h := b.Health(); len(h.Failed) != 0 || h.Served != 1 {
			t.Errorf("%+v", h)
		}
	})
}

func TestRetryDelaysBeginAnewAfterSuccess(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		failing := func(op vfs.Op) error {
			if _, yes := claims(op); yes {
				return errDisk
			}
			return nil
		}
		b.onFile(failing)
		topic := b.publish("t", 1)
		time.Sleep(10 * time.Second)
		b.onFile(nil)
		time.Sleep(30 * time.Second)
		b.expect(topic, 0, nil)
		b.onFile(failing)
		must(t, b.endByError(topic))
		synctest.Wait()
		b.onFile(nil)
		time.Sleep(time.Second)
		if p, err := b.now(topic, 0); err != nil || p.Err() != nil {
			t.Errorf("a second after the first failure: %v", err)
		}
	})
}

func TestTakeoverTimeout(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpMkdir, vfs.OpOpenDir} {
		t.Run(kind.String(), func(t *testing.T) {
			bubble(t, ownership.Options{TakeoverTimeout: time.Minute}, func(b *bench) {
				topic := b.publish("t", 1)
				b.led(topic, 0)
				gate := make(chan struct{})
				b.onFile(func(op vfs.Op) error {
					if op.Kind == kind && !op.After {
						<-gate
					}
					return nil
				})
				must(t, b.endByError(topic))
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				h := b.Health()
				if len(h.Failed) != 1 || !strings.Contains(h.Failed[0].Reason, context.DeadlineExceeded.Error()) || !h.Stalled {
					t.Errorf("while it hangs: %+v", h)
				}
				close(gate)
				time.Sleep(time.Minute)
				if p, err := b.now(topic, 0); err != nil || p.Err() != nil {
					t.Errorf("after the hang: %v", err)
				}
			})
		})
	}
}

func TestErrorBeginsANewEpochAtOnce(t *testing.T) {
	bubble(t, ownership.Options{}, func(b *bench) {
		topic := b.publish("t", 1)
		first := b.led(topic, 0)
		must(t, write(t, first))
		began := time.Now()
		gate := make(chan struct{})
		b.onFile(func(op vfs.Op) error {
			if _, yes := claims(op); yes {
				<-gate
			}
			return nil
		})
		must(t, b.endByError(topic))

		between, err := b.now(topic, 0)
		if err != nil || between != first || between.Err() == nil {
			t.Fatalf("while it is taken over: %v, %v", between, err)
		}
		section, err := between.Read(0, storage.ReadOptions{MaxBytes: 1 << 20})
		must(t, err)
		if section.Size() == 0 {
			t.Error("nothing to read while it is taken over")
		}
		section.Release()
		if h := b.Health(); len(h.Failed) != 1 || h.Served != 0 {
			t.Errorf("%+v", h)
		}

		close(gate)
		second, err := b.now(topic, 0)
		must(t, err)
		if second.Epoch() <= first.Epoch() || second.Err() != nil || time.Since(began) != 0 {
			t.Errorf("epoch %d after %d, %v, after %s", second.Epoch(), first.Epoch(), second.Err(), time.Since(began))
		}
		must(t, write(t, second))
		<-first.Closed()

		time.Sleep(5 * time.Minute)
		if later, err := b.now(topic, 0); err != nil || later != second || later.Err() != nil {
			t.Errorf("a partition that is led was taken over again: %v", err)
		}
	})
}

func TestFencedIsLeftToTheOther(t *testing.T) {
	type fence struct {
		label string
		err   error
	}
	fences := make(chan fence, 10)
	o := ownership.Options{Fenced: func(label string, err error) { fences <- fence{label, err} }}
	fenced(t, o, func(b *bench, first *storage.Partition, topic *catalog.Topic) {
		if f := <-fences; f.label != "t-0" || !errors.Is(f.err, storage.ErrFenced) || len(fences) > 0 {
			t.Errorf("told %+v", f)
		}
		time.Sleep(10 * time.Minute)
		if p, err := b.now(topic, 0); err != nil || p != first {
			t.Errorf("taken back: %v", err)
		}
	})
}

func TestFencedIsTakenBackAfterASecond(t *testing.T) {
	fenced(t, ownership.Options{}, func(b *bench, first *storage.Partition, topic *catalog.Topic) {
		time.Sleep(999 * time.Millisecond)
		if p, _ := b.now(topic, 0); p != first {
			t.Error("taken back at once")
		}
		time.Sleep(time.Millisecond)
		if p, err := b.now(topic, 0); err != nil || p.Err() != nil || p.Epoch() <= first.Epoch()+1 {
			t.Errorf("not taken back: %v", err)
		}
	})
}

// fenced lets another owner take partition 0 of a topic, and the manager notice.
func fenced(t *testing.T, o ownership.Options, test func(b *bench, first *storage.Partition, topic *catalog.Topic)) {
	t.Helper()
	bubble(t, o, func(b *bench) {
		topic := b.publish("t", 1)
		first := b.led(topic, 0)
		thief := b.steal(topic, 0)
		defer thief.Abandon()
		if err := write(t, first); !errors.Is(err, storage.ErrFenced) {
			t.Fatalf("write after the fence: %v", err)
		}
		synctest.Wait()
		test(b, first, topic)
	})
}
