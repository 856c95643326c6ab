package offset

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/kaas-rs/kaas/kaas-coordinator/slot"
)

// Offsets are the offsets of one group.
type Offsets struct {
	committed map[Partition]Committed
	pending   map[int64]map[Partition]Committed // by producer id
}

// New returns no offsets.
func New() *Offsets { return &Offsets{committed: make(map[Partition]Committed)} }

// Apply makes the change that an offset record or pending record stands for. It is how a replay fills Offsets; others are ignored.
func (o *Offsets) Apply(r slot.Record) error {
	at := Partition{r.Key.Topic, r.Key.Partition}
	if r.Value == nil {
		switch r.Key.Kind {
		case slot.KindOffset:
			o.Remove(at)
		case slot.KindPending:
			o.unstage(r.Key.ProducerID, at)
		default:
		}
		return nil
	}
	c, err := Decode(r.Key.Kind, r.Value)
	if err != nil {
		return err
	}
	switch r.Key.Kind {
	case slot.KindOffset:
		o.Commit(at, c)
	case slot.KindPending:
		o.Stage(r.Key.ProducerID, at, c)
	default:
	}
	return nil
}

// Commit sets the offset of a partition.
func (o *Offsets) Commit(at Partition, c Committed) { o.committed[at] = c }

// Remove takes the offset of a partition away.
func (o *Offsets) Remove(at Partition) { delete(o.committed, at) }

// Get returns the offset of a partition of the topic with this id; uuid.Nil stands for any. An offset of an earlier topic of the same name is not
// found.
func (o *Offsets) Get(at Partition, id uuid.UUID) (Committed, bool) {
	c, found := o.committed[at]
	if !found || !c.isOf(id) {
		return Committed{}, false
	}
	return c, true
}

// Partitions returns the partitions that have a committed offset, of whatever incarnation, sorted.
func (o *Offsets) Partitions() []Partition {
	return slices.SortedFunc(maps.Keys(o.committed), comparePartitions)
}

func comparePartitions(a, b Partition) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

// IsEmpty reports whether there are neither committed nor pending offsets.
func (o *Offsets) IsEmpty() bool { return len(o.committed) == 0 && len(o.pending) == 0 }

// Removal returns the records that remove the committed offsets of the partitions that have one, and the pending ones of these partitions.
func (o *Offsets) Removal(group string, partitions []Partition) []slot.Record {
	var records []slot.Record
	for _, at := range partitions {
		if _, found := o.committed[at]; found {
			records = append(records, slot.Record{Key: slot.OffsetKey(group, at.Topic, at.Partition)})
		}
		for _, producer := range slices.Sorted(maps.Keys(o.pending)) {
			if _, staged := o.pending[producer][at]; staged {
				records = append(records, slot.Record{Key: slot.PendingKey(group, producer, at.Topic, at.Partition)})
			}
		}
	}
	return records
}

// All returns every partition that has a committed or a pending offset, sorted.
func (o *Offsets) All() []Partition {
	all := make(map[Partition]struct{}, len(o.committed))
	for at := range o.committed {
		all[at] = struct{}{}
	}
	for _, staged := range o.pending {
		for at := range staged {
			all[at] = struct{}{}
		}
	}
	return slices.SortedFunc(maps.Keys(all), comparePartitions)
}

// AreWithin reports whether there are no offsets, committed or pending, but those of the partitions.
func (o *Offsets) AreWithin(partitions []Partition) bool {
	within := make(map[Partition]bool, len(partitions))
	for _, at := range partitions {
		within[at] = true
	}
	return !slices.ContainsFunc(o.All(), func(at Partition) bool { return !within[at] })
}

// OfTopic returns the partitions with offsets of the topic with this id; offsets that do not tell their topic's id are among them.
func (o *Offsets) OfTopic(topic string, id uuid.UUID) []Partition {
	return slices.DeleteFunc(o.All(), func(at Partition) bool {
		return at.Topic != topic || !o.anyOf(at, id)
	})
}

func (o *Offsets) anyOf(at Partition, id uuid.UUID) bool {
	if c, found := o.committed[at]; found && c.isOf(id) {
		return true
	}
	for _, staged := range o.pending {
		if c, found := staged[at]; found && c.isOf(id) {
			return true
		}
	}
	return false
}

// Forget makes the change of Removal for the same partitions.
func (o *Offsets) Forget(partitions []Partition) {
	for _, at := range partitions {
		o.Remove(at)
		for producer := range o.pending {
			o.unstage(producer, at)
		}
	}
}

// Has reports whether the partition has a committed or a pending offset, of whatever incarnation.
func (o *Offsets) Has(at Partition) bool {
	_, found := o.committed[at]
	return found || o.IsUnstable(at)
}
