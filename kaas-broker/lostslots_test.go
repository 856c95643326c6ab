package broker_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	broker "github.com/kaas-rs/kaas/kaas-broker"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// failingSlots makes every twentieth sync of the coordinator's slots fail once it is told to: the slot is lost, and taken anew by the same process.
type failingSlots struct {
	on            atomic.Bool
	syncs, failed atomic.Int64
}

func (f *failingSlots) hook(op vfs.Op) error {
	if op.After || op.Kind != vfs.OpSync || !strings.Contains(op.Path, "__coordinator/") || !f.on.Load() {
		return nil
	}
	if f.syncs.Add(1)%20 != 0 {
		return nil
	}
	f.failed.Add(1)
	return syscall.EIO
}

// The slots of a group and of the transactional id that works for it are lost again and again, each by itself: what the one asks of the other while it is not
// there is asked again, and the client, which never hears of it, has turned each input into one output.
func TestTransactionsOutliveLostSlots(t *testing.T) {
	disk := &failingSlots{}
	b := open(t, broker.Options{WrapFS: func(fs vfs.FS) vfs.FS { return vfs.NewFault(fs, disk.hook) }})
	serve(t, b)
	for _, topic := range []string{"events", "results"} {
		if err := b.CreateTopic(within(t), topic, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	const count = 400
	source := newClient(t, b, kgo.DefaultProduceTopic("events"))
	for i := range count {
		if err := source.ProduceSync(within(t), kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	disk.on.Store(true)
	transform(t, b, count)
	disk.on.Store(false)
	reader := newClient(t, b, kgo.ConsumeTopics("results"), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	var got, want []string
	for i := range count {
		want = append(want, fmt.Sprint("result ", i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for len(got) < count && ctx.Err() == nil {
		reader.PollFetches(ctx).EachRecord(func(r *kgo.Record) { got = append(got, string(r.Value)) })
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %d results, not %d each once and in order: %q", len(got), count, got)
	}
	if disk.failed.Load() < 3 {
		t.Errorf("only %d syncs failed", disk.failed.Load())
	}
	t.Logf("%d of %d syncs failed", disk.failed.Load(), disk.syncs.Load())
}

// transform copies the records of a topic to another, ten in each transaction, as a member of a group.
func transform(t *testing.T, b *broker.Broker, count int) {
	t.Helper()
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(b.Addr("PLAINTEXT").String()), kgo.TransactionalID("changer"), kgo.ConsumerGroup("workers"),
		kgo.ConsumeTopics("events"), kgo.DefaultProduceTopic("results"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for done := 0; done < count; {
		fetches := session.PollRecords(ctx, 10)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d of %d: poll: %v", done, count, err)
		}
		if err := session.Begin(); err != nil {
			t.Fatalf("%d of %d: begin: %v", done, count, err)
		}
		var results []*kgo.Record
		fetches.EachRecord(func(r *kgo.Record) { results = append(results, kgo.StringRecord("result "+string(r.Value))) })
		if err := session.ProduceSync(ctx, results...).FirstErr(); err != nil {
			t.Fatalf("%d of %d: produce: %v", done, count, err)
		}
		committed, err := session.End(ctx, kgo.TryCommit)
		if err != nil {
			t.Fatalf("%d of %d: end: %v", done, count, err)
		}
		if committed {
			done += len(results)
		}
	}
}
