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

// Unstage forgets a staged offset.
func (o *Offsets) Unstage(producerID int64, at Partition) {
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

// Completion returns the records that end a producer's transaction here: the staged offsets go, and with commit they become the committed ones
// where no plain commit came later. They must be appended as one batch, before [Offsets.Complete].
func (o *Offsets) Completion(group string, producerID int64, commit bool) []slot.Record {
	var records []slot.Record
	staged := o.pending[producerID]
	for _, at := range slices.SortedFunc(maps.Keys(staged), comparePartitions) {
		if commit && o.isLater(at, staged[at]) {
			records = append(records, slot.Record{Key: slot.OffsetKey(group, at.Topic, at.Partition), Value: staged[at].AppendJSON(nil)})
		}
		records = append(records, slot.Record{Key: slot.PendingKey(group, producerID, at.Topic, at.Partition)})
	}
	return records
}

// Complete makes the change of Completion.
func (o *Offsets) Complete(producerID int64, commit bool) {
	for at, c := range o.pending[producerID] {
		if commit && o.isLater(at, c) {
			o.Commit(at, c)
		}
	}
	delete(o.pending, producerID)
}

func (o *Offsets) isLater(at Partition, c Committed) bool {
	current, found := o.committed[at]
	return !found || current.Order < c.Order
}
