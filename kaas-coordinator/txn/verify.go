package txn

import (
	"slices"

	"github.com/google/uuid"
)

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
