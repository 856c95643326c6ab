package storage_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// sendTransactional appends to a transaction, verified, and does not wait.
func sendTransactional(t testing.TB, p *storage.Partition, id int64, sequence int32) storage.Ticket {
	t.Helper()
	verified, _ := p.Verify(id, 0)
	ticket, err := p.Append(storagetest.Transactional(t, id, 0, sequence, 1), storage.AppendOptions{Verified: verified})
	must(t, err)
	return ticket
}

func sendMarker(t testing.TB, p *storage.Partition, id int64, commit bool, identity int64) storage.Ticket {
	t.Helper()
	ticket, err := p.AppendMarker(storage.MarkerAppend{ProducerID: id, Marker: batch.Marker{Commit: commit, Identity: identity, HasIdentity: true}})
	must(t, err)
	return ticket
}

// holdSyncs makes each sync wait until release is called.
func holdSyncs(f *faulty) (release func()) {
	held := make(chan struct{})
	f.set(func(op vfs.Op) error {
		if op.Kind == vfs.OpSync && !op.After {
			<-held
		}
		return nil
	})
	return func() { f.clear(); close(held) }
}

func stillWaits(t *testing.T, ticket storage.Ticket) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := ticket.WaitDurable(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("it was answered: %v", err)
	}
}

// A transaction is undecided for readers until its marker is below the watermark, and a marker sent again is answered then and not before.
func TestMarkerCountsWhenItIsDurable(t *testing.T) {
	for name, flush := range map[string]int64{"every commit synced": 1, "page cache": 1000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaulty(16 << 20)
				b := newBench(t, f, storage.Options{})
				b.config.FlushMessages = flush
				p := b.take()
				must(t, sendTransactional(t, p, 1, 0).WaitDurable(context.Background()))
				release := holdSyncs(f)
				marker := sendMarker(t, p, 1, false, 5)
				again := sendMarker(t, p, 1, false, 5)
				if !again.Result().Duplicate || again.Result().BaseOffset != 1 {
					t.Fatalf("the same marker again: %+v", again.Result())
				}
				stillWaits(t, marker)
				stillWaits(t, again)
				if o := p.Offsets(); o.LastStable != 0 || o.HighWatermark != 1 {
					t.Fatalf("offsets %+v before the marker is durable", o)
				}
				if section, err := p.Read(0, storage.ReadOptions{MaxBytes: 1000, Committed: true}); section != nil || err != nil {
					t.Fatalf("read of what is undecided: %+v, %v", section, err)
				}
				release()
				must(t, marker.WaitDurable(context.Background()))
				must(t, again.WaitDurable(context.Background()))
				must(t, storagetest.CheckTransactions(p))
				if o := p.Offsets(); o.LastStable != 2 {
					t.Fatalf("offsets %+v", o)
				}
			})
		})
	}
}

// What is queued behind the watermark leaves the last stable offset where it is.
func TestQueuedTransactionsAreNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		p := b.take()
		appendDurable(t, p, records(t, "a", 2, 1000))
		release := holdSyncs(f)
		tickets := []storage.Ticket{
			sendTransactional(t, p, 1, 0), sendTransactional(t, p, 2, 0), sendMarker(t, p, 2, true, 1), sendTransactional(t, p, 2, 1), sendMarker(t, p, 1, true, 1),
		}
		synctest.Wait()
		if o := p.Offsets(); o.LastStable != 2 {
			t.Fatalf("offsets %+v", o)
		}
		must(t, storagetest.CheckTransactions(p))
		release()
		for _, ticket := range tickets {
			must(t, ticket.WaitDurable(context.Background()))
		}
		must(t, storagetest.CheckTransactions(p))
		if o := p.Offsets(); o.LastStable != 5 {
			t.Fatalf("offsets %+v", o)
		}
	})
}

// A producer whose transaction hangs is remembered for as long as it hangs, and a verification does not outlive a marker whose producer is forgotten.
func TestProducersExpireOutsideOfTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, vfs.NewMem(16<<20), storage.Options{RetentionInterval: -1})
		b.config.ProducerExpiry = time.Hour
		p := b.take()
		for id := range int64(2) {
			must(t, sendTransactional(t, p, id+1, 0).WaitDurable(context.Background()))
		}
		verified, _ := p.Verify(2, 0)
		must(t, sendMarker(t, p, 2, true, 1).WaitDurable(context.Background()))
		time.Sleep(2 * time.Hour)
		appendDurable(t, p, records(t, "a", 1, 1000))
		time.Sleep(time.Minute) // the next recovery point
		if states := p.Producers(); len(states) != 1 || states[0].ID != 1 || states[0].TransactionStart != 0 {
			t.Fatalf("producers: %+v", states)
		}
		if o := p.Offsets(); o.LastStable != 0 {
			t.Fatalf("offsets %+v", o)
		}
		_, err := p.Append(storagetest.Transactional(t, 2, 0, 1, 1), storage.AppendOptions{Verified: verified})
		if !errors.Is(err, storage.ErrInvalidTransaction) {
			t.Fatalf("batch of a decided transaction: %v", err)
		}
	})
}

// Watch tells when the last stable offset moves.
func TestWatchTellsOfMarkers(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	must(t, sendTransactional(t, p, 1, 0).WaitDurable(context.Background()))
	moved := make(chan struct{}, 1)
	defer p.Watch(moved)()
	must(t, sendMarker(t, p, 1, true, 1).WaitDurable(context.Background()))
	<-moved
	if o := p.Offsets(); o.LastStable != 2 {
		t.Fatalf("offsets %+v", o)
	}
}

// Of two administrators, or coordinators of whom one was replaced, the one that is behind is refused in the very append: also while the other's marker is on its
// way. Markers with an identity are told apart by that alone.
func TestMarkersOfEarlierCoordinators(t *testing.T) {
	f := newFaulty(16 << 20)
	b := newBench(t, f, storage.Options{})
	p := b.take()
	must(t, sendTransactional(t, p, 1, 0).WaitDurable(context.Background()))
	of := func(coordinator int32) storage.MarkerAppend {
		return storage.MarkerAppend{ProducerID: 1, Marker: batch.Marker{CoordinatorEpoch: coordinator}}
	}
	release := holdSyncs(f)
	under, err := p.AppendMarker(of(9))
	must(t, err)
	if _, err := p.AppendMarker(of(8)); !errors.Is(err, storage.ErrCoordinatorEpoch) {
		t.Errorf("an earlier coordinator while the marker of a later one is on its way: %v", err)
	}
	release()
	must(t, under.WaitDurable(context.Background()))
	if _, err := p.AppendMarker(of(9)); err != nil {
		t.Errorf("the same coordinator: %v", err)
	}
	lower := storage.MarkerAppend{ProducerID: 1, Epoch: 1, Marker: batch.Marker{CoordinatorEpoch: 3, Identity: 7, HasIdentity: true}}
	if _, err := p.AppendMarker(lower); err != nil {
		t.Errorf("a decision of an earlier epoch: %v", err)
	}
}

// A control batch that nobody can read is not taken, and a client's plain Append of a marker ends the transaction as well.
func TestControlBatchesInAppend(t *testing.T) {
	b := newBench(t, vfs.NewMem(16<<20), storage.Options{})
	p := b.take()
	must(t, sendTransactional(t, p, 1, 0).WaitDurable(context.Background()))
	marker, err := batch.NewMarkerBatch(batch.Marker{}, 1, 0, 1000)
	must(t, err)
	if _, err := p.AppendMarker(storage.MarkerAppend{ProducerID: -1}); !errors.Is(err, storage.ErrInvalidTransaction) {
		t.Fatalf("marker of no producer: %v", err)
	}
	torn := append(batch.Batch(nil), marker[:batch.HeaderSize]...)
	if _, err := p.Append(torn, storage.AppendOptions{}); !errors.Is(err, batch.ErrMalformed) {
		t.Fatalf("torn marker: %v", err)
	}
	appendDurable(t, p, marker)
	must(t, storagetest.CheckTransactions(p))
	if found, err := p.AbortedIn(0, 2); err != nil || len(found) != 1 {
		t.Fatalf("aborted: %+v, %v", found, err)
	}
}

// A commit that is under way does not bring the last stable offset over a marker that is queued behind it.
func TestMarkerInTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(16 << 20)
		b := newBench(t, f, storage.Options{})
		p := b.take()
		must(t, sendTransactional(t, p, 1, 0).WaitDurable(context.Background()))
		turns := make(chan struct{})
		f.set(func(op vfs.Op) error {
			if op.Kind == vfs.OpSync && !op.After {
				<-turns
			}
			return nil
		})
		first, err := p.Append(records(t, "a", 1, 1000), storage.AppendOptions{})
		must(t, err)
		synctest.Wait()
		marker := sendMarker(t, p, 1, true, 1)
		turns <- struct{}{}
		must(t, first.WaitDurable(context.Background()))
		if o := p.Offsets(); o.LastStable != 0 || o.HighWatermark != 2 {
			t.Fatalf("offsets %+v", o)
		}
		must(t, storagetest.CheckTransactions(p))
		f.clear()
		turns <- struct{}{}
		must(t, marker.WaitDurable(context.Background()))
		if o := p.Offsets(); o.LastStable != 3 {
			t.Fatalf("offsets %+v", o)
		}
	})
}
