package txn

import (
	"math"
	"slices"
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
