// Package compaction decides what stays of a compacted log: for each key the newest record (KIP-58), deletions until everybody could see them
// (KIP-534), nothing of an aborted transaction, and the last word of each producer. The rules are those of Kafka's Cleaner, CleanedTransactionMetadata
// and MemoryRecords.filterTo; where it differs the comment says so.
//
// It sees batches, never files: the caller reads them, writes what [Plan.Filter] returns, and owns every safety question of the files. One compaction is
// one [Plan]: [Plan.Survey] for each batch of the dirty part, in offset order, then [Plan.Filter] for each batch of whatever is to be replaced, in offset order again,
// from the first batch of the log on.
//
// A Plan is not safe for concurrent use, has no clock, starts no goroutine and keeps no batch.
package compaction
