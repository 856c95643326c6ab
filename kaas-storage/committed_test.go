package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
	"github.com/kaas-rs/kaas/kaas-storage/storagetest"
	"github.com/kaas-rs/kaas/kaas-storage/vfs"
)

// decisions are what producers decided before they sent their markers, by producer and then by the number of the transaction.
type decisions struct {
	mu      sync.Mutex
	commits map[int64][]bool
}

func (d *decisions) add(id int64, commit bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits[id] = append(d.commits[id], commit)
}

func (d *decisions) of(id, number int64) (commit, decided bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if number >= int64(len(d.commits[id])) {
		return false, false
	}
	return d.commits[id][number], true
}

// produceTransactions has several transactions, each of a few batches with its number as value, and waits for every marker.
func produceTransactions(p *storage.Partition, d *decisions, id, transactions int64) error {
	sequence := int32(0)
	for number := range transactions {
		for range 1 + number%3 {
			b, err := buildTransactional(id, sequence, 1, fmt.Sprint(number))
			if err != nil {
				return err
			}
			sequence++
			verified, _ := p.Verify(id, 0)
			if _, err := p.Append(b, storage.AppendOptions{Verified: verified}); err != nil {
				return err
			}
		}
		commit := (number+id)%2 == 0
		d.add(id, commit)
		ticket, err := p.AppendMarker(storage.MarkerAppend{ProducerID: id, Marker: batch.Marker{Commit: commit, Identity: number, HasIdentity: true}})
		if err != nil {
			return err
		}
		if err := ticket.WaitDurable(context.Background()); err != nil {
			return err
		}
	}
	return nil
}

// consumeCommitted reads to the end of what is stable, once, and returns the offset behind it. Each batch that it is given has been decided, and is
// aborted or not as it was.
func consumeCommitted(p *storage.Partition, d *decisions, next int64) (int64, error) {
	for {
		section, err := p.Read(next, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true, Committed: true})
		if err != nil || section == nil {
			return next, err
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return next, err
		}
		for len(data) > 0 {
			b, rest, err := batch.Next(data)
			if errors.Is(err, batch.ErrTruncated) {
				break
			}
			if err != nil {
				return next, err
			}
			if err := compareWithDecision(p, d, b); err != nil {
				return next, err
			}
			next, data = b.LastOffset()+1, rest
		}
	}
}

func compareWithDecision(p *storage.Partition, d *decisions, b batch.Batch) error {
	if b.Control() {
		return nil
	}
	values, err := valuesOf(b)
	if err != nil {
		return err
	}
	var number int64
	if _, err := fmt.Sscan(values[0], &number); err != nil {
		return err
	}
	commit, decided := d.of(b.ProducerID(), number)
	if !decided {
		return fmt.Errorf("offset %d of transaction %d of producer %d is given before anybody has decided", b.BaseOffset(), number, b.ProducerID())
	}
	aborted, err := p.AbortedIn(b.BaseOffset(), b.LastOffset()+1)
	if err != nil {
		return err
	}
	for _, a := range aborted {
		if a.ProducerID == b.ProducerID() && a.FirstOffset <= b.BaseOffset() {
			if commit {
				return fmt.Errorf("offset %d is committed, and listed in %+v", b.BaseOffset(), a)
			}
			return nil
		}
	}
	if !commit {
		return fmt.Errorf("offset %d of transaction %d of producer %d is aborted, and not listed", b.BaseOffset(), number, b.ProducerID())
	}
	return nil
}

// Readers of committed records beside producers, recovery points and rolls.
func TestCommittedReadersBesideProducers(t *testing.T) {
	const producers, transactions = 4, 150
	b := newBench(t, vfs.NewMem(64<<20), storage.Options{RetentionInterval: -1})
	b.config.SegmentBytes, b.config.IndexInterval = 5000, 300
	p := b.take()
	d := &decisions{commits: map[int64][]bool{}}
	var producing, consuming sync.WaitGroup
	results := make(chan error, 2*producers)
	for id := range int64(producers) {
		producing.Go(func() { results <- produceTransactions(p, d, id, transactions) })
	}
	done := make(chan struct{})
	for range producers {
		consuming.Go(func() { results <- consumeUntil(p, d, done) })
	}
	for range 20 { // recovery points
		_, err := p.DeleteRecords(context.Background(), p.Offsets().LogStart+1)
		if err != nil && !errors.Is(err, storage.ErrOffsetOutOfRange) {
			t.Error(err)
		}
	}
	producing.Wait()
	close(done)
	consuming.Wait()
	for range 2 * producers {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	must(t, storagetest.CheckTransactions(p))
}

// consumeUntil reads on whenever something has become stable.
func consumeUntil(p *storage.Partition, d *decisions, done <-chan struct{}) error {
	moved := make(chan struct{}, 1)
	defer p.Watch(moved)()
	next := int64(0)
	for ended := false; !ended; {
		select {
		case <-moved:
		case <-done:
			ended = true
		}
		var err error
		next, err = consumeCommitted(p, d, max(next, p.Offsets().LogStart))
		if err != nil && !errors.Is(err, storage.ErrOffsetOutOfRange) {
			return err
		}
	}
	if o := p.Offsets(); next != o.LastStable || o.LastStable != o.LogEnd {
		return fmt.Errorf("read to %d, offsets %+v", next, o)
	}
	return nil
}
