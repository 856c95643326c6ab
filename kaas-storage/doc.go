// Package storage is a log engine: partitions of record batches in directories of a file system, each with one fenced writer.
//
// It owns the files of a partition and everything that keeps an acknowledged record from being lost: claims, takeover, group commit,
// recovery point, removal. It knows record batches by their headers and nothing of requests, topics or clusters. DESIGN.md walks through it.
//
// # Life cycle
//
// [NewEngine] starts the background work of a process; [Engine.Close] ends it. [InitPartition] prepares a directory once. [Engine.Take]
// makes this process its owner and returns a [Partition], which ends for good when another owner takes over, when a file operation fails or
// hangs ([Partition.Done], [Partition.Err]), or with [Partition.Handover] or [Partition.Abandon], one of which must follow in any case. Then it
// can be taken again. [OpenLog] does all of it for one log.
//
// # Concurrency
//
// All types are safe for concurrent use. [Partition.Append] waits for no file; waiting is up to the [Ticket]. The end of a context ends a wait,
// never a write. Every goroutine belongs to an engine or a partition; a file call that never returns keeps the one that made it.
//
// # Errors
//
// Branch on the sentinels with errors.Is, take data from [StorageError] and [CorruptionError] with errors.As.
package storage
