// Package offset holds the offsets of one consumer group: those that are committed, and those that transactions will commit.
//
// It keeps state and says which records a change needs; appending them is the caller's. Nothing here does I/O or has a clock.
// An [Offsets] is used under the lock of its slot.
//
// Behavior follows Kafka's GroupMetadata (offsets) and GroupMetadataManager (expiry, KIP-211).
package offset
