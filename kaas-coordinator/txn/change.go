package txn

import (
	"math"
	"slices"

	"github.com/google/uuid"
)

// Add makes partitions and groups part of the producer's transaction, and begins one if need be (AddPartitionsToTxn, AddOffsetsToTxn).
func (t Transaction) Add(p Producer, partitions []Partition, groups []string, at Moment) Step {
	if err := t.check(p); err != nil {
		return t.refuse(err)
	}
	if t.State.IsDecided() {
		return t.refuse(ErrConcurrentTransactions)
	}
	if t.State == Ongoing && t.hasAll(partitions, groups) {
		return Step{Next: t}
	}
	next := t
	if t.State != Ongoing {
		next.State, next.Start = Ongoing, at.Now.UnixMilli()
	}
	next.Partitions = sortedPartitions(slices.Concat(t.Partitions, partitions))
	next.Groups = sortedGroups(slices.Concat(t.Groups, groups))
	return change(next, at)
}

func sortedPartitions(partitions []Partition) []Partition {
	slices.SortFunc(partitions, comparePartitions)
	return slices.Compact(partitions)
}

func sortedGroups(groups []string) []string {
	slices.Sort(groups)
	return slices.Compact(groups)
}

func (t Transaction) hasAll(partitions []Partition, groups []string) bool {
	for _, at := range partitions {
		if _, found := slices.BinarySearchFunc(t.Partitions, at, comparePartitions); !found {
			return false
		}
	}
	for _, group := range groups {
		if !t.hasGroup(group) {
			return false
		}
	}
	return true
}

func (t Transaction) hasGroup(group string) bool {
	_, found := slices.BinarySearch(t.Groups, group)
	return found
}

// has looks for a partition. Without a topic id that of the transaction counts.
func (t Transaction) has(at Partition) bool {
	if at.TopicID != uuid.Nil {
		return t.hasAll([]Partition{at}, nil)
	}
	return slices.ContainsFunc(t.Partitions, func(p Partition) bool { return p.Topic == at.Topic && p.Partition == at.Partition })
}

// Verify says which partitions are part of the producer's open transaction, with one error for each: nil or ErrInvalidState (KIP-890).
func (t Transaction) Verify(p Producer, partitions []Partition) ([]error, error) {
	if err := t.mayWrite(p); err != nil {
		return nil, err
	}
	results := make([]error, len(partitions))
	for i, at := range partitions {
		if !t.has(at) {
			results[i] = ErrInvalidState
		}
	}
	return results, nil
}

// VerifyGroup says whether the group's offsets are part of the producer's open transaction.
func (t Transaction) VerifyGroup(p Producer, group string) error {
	if err := t.mayWrite(p); err != nil {
		return err
	}
	if !t.hasGroup(group) {
		return ErrInvalidState
	}
	return nil
}

func (t Transaction) mayWrite(p Producer) error {
	if err := t.check(p); err != nil {
		return err
	}
	if t.State.IsDecided() {
		return ErrConcurrentTransactions
	}
	return nil
}

// End decides the producer's transaction (TransactionCoordinator.endTransaction). What has been decided so already is granted again.
func (t Transaction) End(p Producer, commit bool, at Moment) Step {
	if err := t.check(p); err != nil {
		return t.refuse(err)
	}
	switch t.State {
	case Ongoing:
		return t.decide(commit, at)
	case prepared(commit):
		return t.refuse(ErrConcurrentTransactions)
	case completed(commit):
		return Step{Next: t}
	default:
		return t.refuse(ErrInvalidState)
	}
}

func (t Transaction) decide(commit bool, at Moment) Step {
	next := t
	next.State, next.Identity = prepared(commit), at.Next
	return change(next, at)
}

// Fence aborts an open transaction with a higher epoch than its producer has, so that what this still sends counts nowhere.
func (t Transaction) Fence(at Moment) Step {
	if t.State != Ongoing {
		return t.refuse(ErrInvalidState)
	}
	next := t
	if t.Producer.Epoch < math.MaxInt16 { // no producer ever got the highest
		next.Producer.Epoch++
	}
	next.LastEpoch = -1
	return next.decide(false, at)
}

// Complete ends a decided transaction whose markers are all placed.
func (t Transaction) Complete(at Moment) Step {
	if !t.State.IsDecided() {
		return t.refuse(ErrInvalidState)
	}
	next := t
	next.State = completed(t.Commits())
	next.Partitions, next.Groups, next.Identity = nil, nil, -1
	return change(next, at)
}
