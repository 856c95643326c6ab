package storage

import (
	"fmt"
	"time"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
)

// MarkerAppend is the decision of a transaction coordinator for one producer.
type MarkerAppend struct {
	ProducerID int64
	Epoch      int16
	Marker     batch.Marker
}

// AppendMarker ends the transaction that the producer has open here, if any, with a control batch. Without one the marker is appended all the
// same, as in Kafka: it raises the producer's epoch. A marker is synced and checked before WaitDurable returns, whatever FlushMessages says.
//
// A marker whose identity is not above the producer's last is a duplicate: nothing is appended, and the ticket is that of the last one's commit.
// One without identity, an administrator's abort, is never a duplicate; it is refused when its coordinator's epoch is below that of the last marker
// (ProducerAppendInfo.checkCoordinatorEpoch).
//
// Errors: ErrInvalidTransaction for a negative producer id or epoch, ErrProducerEpoch for an epoch below the producer's, ErrCoordinatorEpoch, ErrStorageFull, or why
// the leadership ended.
func (p *Partition) AppendMarker(m MarkerAppend) (Ticket, error) {
	if m.ProducerID < 0 || m.Epoch < 0 {
		return Ticket{}, fmt.Errorf("marker of producer %d, epoch %d: %w", m.ProducerID, m.Epoch, ErrInvalidTransaction)
	}
	now := time.Now()
	b, err := batch.NewMarkerBatch(m.Marker, m.ProducerID, m.Epoch, now.UnixMilli())
	if err != nil {
		return Ticket{}, fmt.Errorf("build marker: %w", err)
	}
	config := p.config.Load()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.mayAppendLocked(int64(len(b))); err != nil {
		return Ticket{}, err
	}
	if known := p.producers[m.ProducerID]; known != nil {
		last := known.transaction()
		if m.Marker.HasIdentity && m.Marker.Identity <= last.Identity {
			return p.duplicateLocked(batchMark{BaseOffset: last.Marker, LastOffset: last.Marker, Timestamp: batch.NoTimestamp}), nil
		}
		if m.Epoch < known.Epoch {
			return Ticket{}, fmt.Errorf("marker of producer %d has epoch %d, the partition knows %d: %w", m.ProducerID, m.Epoch, known.Epoch, ErrProducerEpoch)
		}
		if !m.Marker.HasIdentity && m.Marker.CoordinatorEpoch < last.CoordinatorEpoch {
			return Ticket{}, fmt.Errorf("marker of coordinator epoch %d, the last one had %d: %w", m.Marker.CoordinatorEpoch, last.CoordinatorEpoch, ErrCoordinatorEpoch)
		}
	}
	return p.addLocked(b, &m.Marker, config, AppendOptions{Sync: true}, now), nil
}

// markerOf reads what a producer's control batch says; nil for any other batch, and for control batches that end no transaction.
func markerOf(b batch.Batch) (*batch.Marker, error) {
	if !b.Control() || b.ProducerID() < 0 {
		return nil, nil
	}
	marker, ends, err := b.Marker(nil)
	if err != nil {
		return nil, fmt.Errorf("control batch: %w", err)
	}
	if !ends {
		return nil, nil
	}
	return &marker, nil
}

// end applies a marker to its producer and returns where the transaction that it ends began, -1 when none was open. The batches that are
// remembered stay, unless the marker raises the epoch: the sequence goes on over transactions.
func (t producerTable) end(b batch.Batch, m batch.Marker, seen int64) int64 {
	p := t.at(b)
	p.LastSeen = seen
	state := p.transaction()
	first := state.Start
	state.Start = -1
	state.Marker = b.LastOffset()
	state.CoordinatorEpoch = m.CoordinatorEpoch
	if m.HasIdentity {
		state.Identity = max(state.Identity, m.Identity)
	}
	p.Transaction = &state
	return first
}
