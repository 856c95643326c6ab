package offset

import (
	"maps"
	"slices"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Stage keeps an offset that the producer's transaction will commit. Of several for one partition the latest counts.
func (o *Offsets) Stage(producerID int64, at Partition, c Committed) {
	if o.pending == nil {
		o.pending = make(map[int64]map[Partition]Committed)
	}
	staged := o.pending[producerID]
	if staged == nil {
		staged = make(map[Partition]Committed)
		o.pending[producerID] = staged
	}
	staged[at] = c
}

// unstage forgets a staged offset.
func (o *Offsets) unstage(producerID int64, at Partition) {
	staged := o.pending[producerID]
	delete(staged, at)
	if len(staged) == 0 {
		delete(o.pending, producerID)
	}
}

// IsUnstable reports whether a transaction that is open will or may change the partition's offset (KIP-447).
func (o *Offsets) IsUnstable(at Partition) bool {
	for _, staged := range o.pending {
		if _, found := staged[at]; found {
			return true
		}
	}
	return false
}

// Producers returns the producers that have staged offsets, in order.
func (o *Offsets) Producers() []int64 { return slices.Sorted(maps.Keys(o.pending)) }

// Staged returns the partitions for which a producer has staged offsets, in order.
func (o *Offsets) Staged(producerID int64) []Partition {
	return slices.SortedFunc(maps.Keys(o.pending[producerID]), comparePartitions)
}

// Completion returns the records that end a producer's transaction for a partition: the staged offset goes, and with commit it becomes the committed one
// unless a plain commit came later. They must be appended as one batch, before [Offsets.Complete].
func (o *Offsets) Completion(group string, producerID int64, at Partition, commit bool) []slot.Record {
	staged, found := o.pending[producerID][at]
	if !found {
		return nil
	}
	var records []slot.Record
	if commit && o.isLater(at, staged) {
		records = append(records, slot.Record{Key: slot.OffsetKey(group, at.Topic, at.Partition), Value: staged.AppendJSON(nil)})
	}
	return append(records, slot.Record{Key: slot.PendingKey(group, producerID, at.Topic, at.Partition)})
}

// Complete makes the change of Completion for several partitions.
func (o *Offsets) Complete(producerID int64, partitions []Partition, commit bool) {
	for _, at := range partitions {
		staged, found := o.pending[producerID][at]
		if !found {
			continue
		}
		if commit && o.isLater(at, staged) {
			o.Commit(at, staged)
		}
		o.unstage(producerID, at)
	}
}

func (o *Offsets) isLater(at Partition, c Committed) bool {
	current, found := o.committed[at]
	return !found || current.Order < c.Order
}
