package storage_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// promisedTransactions is what was acknowledged of transactions. Each producer has one, so that an append that fails leaves no doubt about the next.
type promisedTransactions struct {
	open    map[int64]int64 // first offsets by producer, of those that nobody asked to end
	decided map[int64]int64 // identities of the markers by producer
	// unanswered were asked to end, and nobody has said yet that they have.
	unanswered map[int64]bool
}

func newPromisedTransactions() promisedTransactions {
	return promisedTransactions{open: map[int64]int64{}, decided: map[int64]int64{}, unanswered: map[int64]bool{}}
}

func (p promisedTransactions) clone() promisedTransactions {
	return promisedTransactions{open: maps.Clone(p.open), decided: maps.Clone(p.decided), unanswered: maps.Clone(p.unanswered)}
}

func buildTransactional(id int64, sequence int32, n int, value string) (batch.Batch, error) {
	builder := batch.NewBuilder()
	builder.ProducerID, builder.ProducerEpoch, builder.BaseSequence, builder.Transactional = id, 0, sequence, true
	for range n {
		builder.Add(1000, nil, []byte(value))
	}
	return builder.Build()
}

// begin appends the first batch of a producer's transaction, two records.
func (l *ledger) begin(p *storage.Partition, id int64) error {
	b, err := buildTransactional(id, 0, 2, fmt.Sprint("transaction of ", id))
	if l.gone != nil {
		b, err = keyedTransactional(id, fmt.Sprint("transaction of ", id), "k1", fmt.Sprint("t", id))
	}
	if err != nil {
		return err
	}
	verified, _ := p.Verify(id, 0)
	ticket, err := l.askWith(p, b, storage.AppendOptions{Verified: verified})
	if err != nil {
		return err
	}
	if err := ticket.WaitDurable(context.Background()); err != nil {
		return err
	}
	if err := l.promise(ticket.Result(), b, p.Epoch()); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.producers, id)
	l.transactions.open[id] = ticket.Result().BaseOffset
	return nil
}

// end appends the marker of a producer's transaction. Whatever was acknowledged before it is synced, also in a page-cache topic.
func (l *ledger) end(p *storage.Partition, id, identity int64, commit bool) error {
	marker := batch.Marker{Commit: commit, CoordinatorEpoch: 1, Identity: identity, HasIdentity: true}
	b, err := batch.NewMarkerBatch(marker, id, 0, 1)
	if err != nil {
		return err
	}
	values, err := valuesOf(b)
	if err != nil {
		return err
	}
	ticket, err := l.askMarker(p, storage.MarkerAppend{ProducerID: id, Marker: marker}, values[0])
	if err != nil {
		return err
	}
	if err := ticket.WaitDurable(context.Background()); err != nil {
		return err
	}
	epoch := p.Epoch()
	if ticket.Result().Duplicate { // the original may be an earlier leader's
		epoch = p.EpochForOffset(ticket.Result().BaseOffset)
	}
	if err := l.promise(ticket.Result(), b, epoch); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.producers, id)
	l.transactions.decided[id] = identity
	delete(l.transactions.unanswered, id)
	for offset, promised := range l.promised {
		if offset <= ticket.Result().LastOffset {
			l.firm[offset] = promised
		}
	}
	return nil
}

func (l *ledger) askMarker(p *storage.Partition, m storage.MarkerAppend, value string) (storage.Ticket, error) {
	l.mu.Lock() // as in askWith
	defer l.mu.Unlock()
	delete(l.transactions.open, m.ProducerID)
	if l.gone != nil {
		l.mayGo[value] = true
	}
	if !m.Marker.Commit && l.gone != nil {
		for _, key := range []string{"k1", fmt.Sprint("t", m.ProducerID)} {
			l.mayGo[key+fmt.Sprint(":transaction of ", m.ProducerID)] = true
		}
	}
	l.transactions.unanswered[m.ProducerID] = true
	ticket, err := p.AppendMarker(m)
	if err != nil || ticket.Result().Duplicate {
		return ticket, err
	}
	offset := ticket.Result().BaseOffset
	if l.asked[offset] == nil {
		l.asked[offset] = map[string]bool{}
	}
	l.asked[offset][value] = true
	return ticket, nil
}

// checkTransactions compares the next owner's state with the log and with what was acknowledged.
func (l *ledger) checkTransactions(p *storage.Partition) error {
	if err := l.transactionsHold(p); err != nil {
		return err
	}
	bounds := p.Offsets()
	starts := map[int64]int64{}
	for _, s := range p.Producers() {
		starts[s.ID] = s.TransactionStart
	}
	for id, first := range l.transactions.open {
		if start, known := starts[id]; !known || start != first {
			return fmt.Errorf("producer %d was acknowledged to have a transaction open from %d on, now %d, %t", id, first, start, known)
		}
		if bounds.LastStable > max(first, bounds.LogStart) {
			return fmt.Errorf("offsets %+v, an open transaction begins at %d", bounds, first)
		}
	}
	for id := range l.transactions.decided {
		if start, known := starts[id]; !known || start >= 0 {
			return fmt.Errorf("producer %d was acknowledged to have ended its transaction, now it has one from %d on, %t", id, start, known)
		}
	}
	return nil
}

// goOnInTransactions sends each acknowledged marker again, which is recognized, and ends what is open.
func (l *ledger) goOnInTransactions(p *storage.Partition) error {
	for _, id := range slices.Sorted(maps.Keys(l.transactions.decided)) {
		identity := l.transactions.decided[id]
		ticket, err := p.AppendMarker(storage.MarkerAppend{ProducerID: id, Marker: batch.Marker{Identity: identity, HasIdentity: true}})
		if err != nil || !ticket.Result().Duplicate {
			return fmt.Errorf("marker %d of producer %d again: %+v, %w", identity, id, ticket.Result(), err)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.transactions.open)) {
		if _, open := p.Verify(id, 0); !open {
			return fmt.Errorf("transaction of producer %d is not open", id)
		}
		if err := l.end(p, id, 1000, id%2 == 0); err != nil {
			return err
		}
	}
	return l.transactionsHold(p)
}
