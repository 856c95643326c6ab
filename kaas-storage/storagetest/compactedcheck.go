package storagetest

import (
	"fmt"
	"slices"

	"github.com/kaas-rs/kaas/kaas-codec/batch"
	"github.com/kaas-rs/kaas/kaas-storage"
)

// CheckCompactedTransactions is CheckTransactions for a log that is compacted: of each record of a transaction that is still there, readers are told what
// the next marker of its producer says, however they ask. The partition must be at rest.
func CheckCompactedTransactions(p *storage.Partition) error {
	bounds := p.Offsets()
	batches, err := headers(p)
	if err != nil {
		return err
	}
	for i, b := range batches {
		if !b.Transactional() || b.Control() || b.Count() == 0 || b.LastOffset() >= bounds.LastStable {
			continue
		}
		aborted, decided, err := decision(batches[i+1:], b.ProducerID())
		if err != nil || !decided {
			return fmt.Errorf("batch at offset %d is below the last stable offset %d and not decided: %w", b.BaseOffset(), bounds.LastStable, err)
		}
		at := max(b.BaseOffset(), bounds.LogStart)
		for _, around := range [][2]int64{{at, at + 1}, {bounds.LogStart, at + 1}, {at, bounds.LastStable}, {bounds.LogStart, bounds.LastStable}} {
			found, err := p.AbortedIn(around[0], around[1])
			if err != nil {
				return err
			}
			listed := slices.ContainsFunc(found, func(a storage.AbortedTransaction) bool {
				return a.ProducerID == b.ProducerID() && a.FirstOffset <= at && a.LastOffset > at
			})
			if listed != aborted {
				return fmt.Errorf("batch at offset %d is aborted: %t, in %v it is said to be: %t, %+v", b.BaseOffset(), aborted, around, listed, found)
			}
		}
	}
	return nil
}

// decision is what the next marker of a producer says.
func decision(batches []batch.Batch, producerID int64) (aborted, decided bool, err error) {
	for _, b := range batches {
		if !b.Control() || b.ProducerID() != producerID {
			continue
		}
		m, ends, err := b.Marker(nil)
		if err != nil || ends {
			return !m.Commit, ends, err
		}
	}
	return false, false, nil
}

// headers reads every batch from the log start to the watermark, over gaps.
func headers(p *storage.Partition) ([]batch.Batch, error) {
	var found []batch.Batch
	bounds := p.Offsets()
	for next := bounds.LogStart; next < bounds.HighWatermark; {
		section, err := p.Read(next, storage.ReadOptions{MaxBytes: 1 << 20, AtLeastOneBatch: true})
		if err != nil {
			return nil, err
		}
		if section == nil {
			return nil, fmt.Errorf("nothing at offset %d or behind, the watermark is %d", next, bounds.HighWatermark)
		}
		data := make([]byte, section.Size())
		_, err = section.ReadAt(data, 0)
		section.Release()
		if err != nil {
			return nil, err
		}
		for len(data) > 0 {
			b, rest, err := batch.Next(data)
			switch {
			case err != nil:
				return nil, fmt.Errorf("behind offset %d: %w", next, err)
			case !b.ValidCRC():
				return nil, fmt.Errorf("bad checksum at offset %d", b.BaseOffset())
			case b.LastOffset() < next:
				return nil, fmt.Errorf("batch that ends at %d where %d was asked for", b.LastOffset(), next)
			}
			found, next, data = append(found, b), b.LastOffset()+1, rest
		}
	}
	return found, nil
}
