// Package batch views, checks, builds and converts Kafka record batches.
//
// A [Batch] is one record batch of format v2 (magic 2) as it lies on the wire and on disk. The
// package reads its 61 header bytes in place and leaves the records alone: nothing is decoded
// unless a caller ranges over [Batch.Records], asks [Validate] for something that only the
// records can answer, or converts between formats. Each such decode is counted in a [Tripwires]
// under the [Site] that asked for it.
//
// The package does no I/O, keeps no state between calls but pooled compressors, starts no
// goroutine that outlives a call and never logs. Everything it reads is taken to be hostile:
// malformed bytes lead to an error, never to a panic or to memory that grows with a claimed
// instead of a received size.
//
// Formats and decisions follow Apache Kafka 3.7: DefaultRecordBatch and DefaultRecord for v2,
// LegacyRecord and AbstractLegacyRecordBatch for v0 and v1, LogValidator for [Validate].
package batch
